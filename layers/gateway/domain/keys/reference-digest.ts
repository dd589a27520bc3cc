import { hash } from 'node:crypto'

/**
 * The same for texts that name one payment: people type it in different case, spaces and forms of letters. A digest,
 * because some letters become many.
 */
export function referenceDigest(text: string): string {
  return hash('sha256', text.normalize('NFKC').toLowerCase().replace(/\s+/g, ' ').trim())
}
