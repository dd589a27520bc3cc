import { z } from 'zod'
import { kind } from '../../../../layers/admin/api/shapes/parts.ts'
import { EMBEDDING_FIELDS, MAX_INPUTS } from '../../../../layers/gateway/contracts/embeddings/embedding-request.ts'
import * as part from './parts.ts'

// OpenAI's embeddings.

const token = z.int().min(0)

const request = {
  model: part.name('The id of a model whose `contracts` has embeddings.'),
  input: z
    .union([
      z.string().min(1),
      z.array(z.string().min(1)).min(1).max(MAX_INPUTS),
      z.array(token).min(1),
      z.array(z.array(token).min(1)).min(1).max(MAX_INPUTS),
    ])
    .describe('A text, texts, token ids, or lists of token ids. One answer has at most 3,145,728 numbers.'),
  dimensions: part.maybe(
    z.int().min(1).describe('Numbers in a vector: at most those of the model, which are the default.'),
  ),
  encoding_format: part.maybe(
    z.enum(['float', 'base64']).describe('base64 is of 32-bit floats, the lowest byte first; float unless given.'),
  ),
  user: part.drawing.user,
}

export const EmbeddingRequest = z
  .looseObject(request)
  .describe(`OpenAI’s request for embeddings. ${part.otherFields(EMBEDDING_FIELDS.shapes, request)}`)

const embedding = z.object({
  object: kind('embedding'),
  index: part.size('The position of its text in the input.'),
  embedding: z
    .union([z.array(z.number()).min(1), z.base64()])
    .describe('The vector: numbers, or their base64 if that was asked for.'),
})

export const EmbeddingList = z
  .object({
    object: kind('list'),
    data: z.array(embedding).min(1).describe('A vector for each text, in their order.'),
    model: part.answeredBy,
    usage: z
      .object({
        prompt_tokens: part.size('Tokens of the texts.'),
        total_tokens: part.size('The same: a vector has no tokens.'),
        cost: part.cost,
      })
      .describe('The billed counts and the charge.'),
  })
  .describe('The vectors of the texts.')
