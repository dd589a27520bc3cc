/** Within these days a key is granted credits under one reference once, unless the operator says that it is no mistake. */
export const REFERENCE_DAYS = 30

export const MOST_REFERENCE_CHARS = 200

/** The name of a payment. `isAgain`: that the key was granted credits under it before is no mistake. */
export type Reference = { readonly text: string; readonly isAgain: boolean }

/** People type the reference of one payment in different case, spaces and forms of letters. */
export function comparedReference(text: string): string {
  return text.normalize('NFKC').toLowerCase().replace(/\s+/g, ' ').trim()
}
