/** A text, or the token ids of one. */
export type Prompt = string | readonly number[]

/** Numbers in JSON, or as base64 of 32-bit floats, the lowest byte first. */
export type VectorFormat = 'float' | 'base64'

export type EmbeddingRequest = {
  readonly inputs: readonly Prompt[]
  readonly dimensions: number | undefined
  readonly format: VectorFormat
}

/** One vector, in as few bytes as its format needs. */
export type Vector = Float32Array | Float64Array

/** The vectors of a batch, in the order of its inputs, and its usage in OpenAI's format, not checked yet. */
export type Embedding = { readonly vectors: readonly Vector[]; readonly usage: unknown }

/** Inputs that the upstream has embedded and bills, though the caller gets no vector, and their usage if it told it. */
export type Embedded = { readonly inputs: readonly Prompt[]; readonly usage: unknown }

/** The most numbers in one answer: 2,048 vectors of 1,536, or 1,024 of 3,072. As many fit into chat's memory. */
export const MOST_NUMBERS = 2_048 * 1_536
