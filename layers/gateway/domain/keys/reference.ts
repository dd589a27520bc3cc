/** Within these days a key is granted credits under one reference once, unless the operator says that it is no mistake. */
export const REFERENCE_DAYS = 30

export const MOST_REFERENCE_CHARS = 200

/** The name of a payment. `isAgain`: that the key was granted credits under it before is no mistake. */
export type Reference = { readonly text: string; readonly isAgain: boolean }
