/** What the upstream says: so many chunks of so many characters, all at once or one every so often. */
export type Answer = { readonly chunks: number; readonly characters: number; readonly everyMs: number }

/** Chunks are its beginning. */
export const ALPHABET = 'abcdefghijklmnopqrstuvwxyz'

/** By the model's name, which every gateway passes on. */
const ANSWERS = {
  /** The request that is measured, as a whole or as a stream. */
  'hundred-chunks': { chunks: 100, characters: 20, everyMs: 0 },
  'hundred-slow-chunks': { chunks: 100, characters: 20, everyMs: 5 },
  /** What a stream costs apart from its chunks. */
  'one-chunk': { chunks: 1, characters: 20, everyMs: 0 },
  /** The second comes long after the first, so that the first is seen by itself. */
  'two-chunks-apart': { chunks: 2, characters: 20, everyMs: 10 },
  /** The chat of the bill: a token is about four characters of English. */
  'three-hundred-tokens': { chunks: 300, characters: 4, everyMs: 0 },
} as const satisfies Record<string, Answer>

export type Model = keyof typeof ANSWERS
export const MODELS = Object.keys(ANSWERS) as Model[]

export function answerOf(model: string): Answer {
  const answer = ANSWERS[model as Model]
  if (!answer) throw new Error(`There is no answer for the model ${model}.`)
  return answer
}
