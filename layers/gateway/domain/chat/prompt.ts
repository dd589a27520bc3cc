/** A text, or the token ids of one. */
export type Prompt = string | readonly number[]
