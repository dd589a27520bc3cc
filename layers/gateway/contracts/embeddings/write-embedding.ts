import type { Embedding } from '../../domain/chat/embedding.ts'
import type { Nano } from '../../domain/money/money.ts'
import { writeVector } from '../../wire/chat/vectors.ts'
import { moneyLiteral } from '../../wire/money/money-literal.ts'
import type { AnswerHead } from '../contract.ts'

/** OpenAI's list of embeddings, vector by vector: the whole text may be too long for the memory. */
export function* writeEmbedding(
  { model, chat }: AnswerHead,
  { vectors }: Embedding,
  usage: { readonly tokens: number; readonly cost: Nano },
): Generator<string, void, undefined> {
  const format = chat.embedding?.format ?? 'float'
  yield '{"object":"list","data":['
  for (const [index, vector] of vectors.entries()) {
    yield `${index > 0 ? ',' : ''}{"object":"embedding","index":${index},"embedding":${writeVector(vector, format)}}`
  }
  const { tokens, cost } = usage
  const counts = { prompt_tokens: tokens, total_tokens: tokens, cost: moneyLiteral(cost) }
  yield `],"model":${JSON.stringify(model)},"usage":${JSON.stringify(counts)}}`
}
