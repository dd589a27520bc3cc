import { countTokens } from './count-tokens.ts'

/** All texts of one bill: the pieces of its prompt and those of its answer. */
export type TokenQuestion = { readonly texts: readonly string[] }
export type TokenAnswer = { readonly tokens: readonly number[] }

/** A prompt and an answer are cut into 32 pieces each, at most. */
const MOST_TEXTS = 64

/** Texts are prompts and answers: no error contains any of them, because errors are logged. */
export function answerQuestion(question: unknown): TokenAnswer {
  const { texts } = (question ?? {}) as Partial<TokenQuestion>
  const areTexts = Array.isArray(texts) && texts.length <= MOST_TEXTS && texts.every((text) => typeof text === 'string')
  if (!areTexts) throw new Error(`The tokenizer is asked with { texts }, at most ${MOST_TEXTS} strings.`)
  return { tokens: texts.map((text) => countTokens(text)) }
}
