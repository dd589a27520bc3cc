import type { z } from 'zod'
import type { ChatCompletion, ChatCompletionChunk } from '../../../operator/schemas/openapi/contracts/chat.ts'
import type { Completion, CompletionChunk } from '../../../operator/schemas/openapi/contracts/completions.ts'
import type { EmbeddingList } from '../../../operator/schemas/openapi/contracts/embeddings.ts'
import type { ResponseEvent } from '../../../operator/schemas/openapi/contracts/response-events.ts'
import type { Response } from '../../../operator/schemas/openapi/contracts/responses.ts'
import type { ErrorBody } from '../../../operator/schemas/openapi/shapes/errors.ts'
import type { Model, ModelList } from '../../../operator/schemas/openapi/shapes/models.ts'
import { checkerOf } from '../../documents/support/openapi.ts'

// Checkers of answers by docs/openapi.json, in which a field that it does not name is a fault.

function checker<Schema extends z.ZodType>(name: string) {
  return checkerOf({ $ref: `#/components/schemas/${name}` }) as z.ZodType<z.infer<Schema>>
}

type Counts = Readonly<Record<string, unknown>>

/** A schema cannot say that the total is the sum. */
function isSum({ usage }: { readonly usage?: Counts | null | undefined }): boolean {
  if (!usage) return true
  const { prompt_tokens, completion_tokens, input_tokens = prompt_tokens, output_tokens = completion_tokens } = usage
  return usage.total_tokens === Number(input_tokens) + Number(output_tokens)
}

export const completion = checker<typeof ChatCompletion>('ChatCompletion').refine(isSum)
export const chunk = checker<typeof ChatCompletionChunk>('ChatCompletionChunk').refine(isSum)
export type Chunk = z.infer<typeof chunk>

export const textCompletion = checker<typeof Completion>('Completion').refine(isSum)
export const textChunk = checker<typeof CompletionChunk>('CompletionChunk').refine(isSum)
export const embeddingList = checker<typeof EmbeddingList>('EmbeddingList')

export const response = checker<typeof Response>('Response').refine(isSum)
export const streamEvent = checker<typeof ResponseEvent>('ResponseEvent').refine(
  (event) => !('response' in event && 'usage' in event.response) || isSum(event.response),
)
export type StreamEvent = z.infer<typeof streamEvent>

export const errorAnswer = checker<typeof ErrorBody>('Error')
export const model = checker<typeof Model>('Model')
export const modelList = checker<typeof ModelList>('ModelList')
