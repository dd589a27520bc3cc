import { hash } from 'node:crypto'

/** People type one payment in different case, spaces and letters. A digest, because some letters become many. */
export function referenceDigest(text: string): string {
  return hash('sha256', text.normalize('NFKC').toLowerCase().replace(/\s+/g, ' ').trim())
}
