/** The upstream's answer: so many chunks of so many characters, all at once or at intervals. */
export type Answer = {
  readonly chunks: number
  readonly characters: number
  readonly everyMs: number
  /** The wait before the first, as of a model that thinks about its first token. */
  readonly firstMs?: number
  readonly isProse?: true
}

/** Every chunk is a prefix of it. */
export const ALPHABET = 'abcdefghijklmnopqrstuvwxyz'

/** By the model's name, which every gateway passes on. */
const ANSWERS = {
  /** The request that is measured, as a whole or as a stream. */
  'hundred-chunks': { chunks: 100, characters: 20, everyMs: 0 },
  'hundred-slow-chunks': { chunks: 100, characters: 20, everyMs: 5 },
  /** As a quick provider answers. */
  'hundred-chunks-later': { chunks: 100, characters: 20, everyMs: 5, firstMs: 100 },
  /** Shows the cost of a stream apart from its chunks. */
  'one-chunk': { chunks: 1, characters: 20, everyMs: 0 },
  /** The chat of the bill: English prose, about four characters a token, because it is compressed. Not all comes at once. */
  'three-hundred-tokens': { chunks: 300, characters: 4, everyMs: 1, isProse: true },
} as const satisfies Record<string, Answer>

export type Model = keyof typeof ANSWERS
export const MODELS = Object.keys(ANSWERS) as Model[]

export function answerOf(model: string): Answer {
  const answer = ANSWERS[model as Model]
  if (!answer) throw new Error(`There is no answer for the model ${model}.`)
  return answer
}
