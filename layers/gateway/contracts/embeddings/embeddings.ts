import { badRequest } from '../../domain/basics/gateway-error.ts'
import type { ChatRequest } from '../../domain/chat/chat.ts'
import { type Embedding, type EmbeddingRequest, MOST_NUMBERS } from '../../domain/chat/embedding.ts'
import { hasMoreTokens } from '../../domain/money/least-tokens.ts'
import type { Nano } from '../../domain/money/money.ts'
import type { PricedModel } from '../../domain/routing/catalog.ts'
import { badField } from '../../wire/basics/field-rules.ts'
import { flag, integer, knownRows, option, shaped, word } from '../../wire/basics/shape.ts'
import { alias, MODEL } from '../../wire/chat/chat-fields.ts'
import { promptShape, readPrompts } from '../../wire/chat/read-prompts.ts'
import { writeVector } from '../../wire/chat/vectors.ts'
import { moneyLiteral } from '../../wire/money/money-literal.ts'
import { type JsonBody, readFields } from '../../wire/requests/read-body.ts'
import type { AnswerHead } from '../contract.ts'

const MAX_INPUTS = 2_048

const TRUNCATE = option('NONE', 'START', 'END', 'LEFT', 'RIGHT')

/** The purpose of a text, and the way to cut a long one, are not billed. */
export const EMBEDDING_FIELDS = knownRows({
  model: MODEL,
  input: promptShape(MAX_INPUTS, 1),
  dimensions: integer(1),
  encoding_format: word('float', 'base64'),
  user: alias,
  input_type: option('query', 'passage', 'document', 'search_query', 'search_document', 'classification', 'clustering'),
  truncate: shaped({ anyOf: [flag, TRUNCATE] }, (sent, at) => (typeof sent === 'boolean' ? sent : TRUNCATE(sent, at))),
  truncate_prompt_tokens: integer(-1),
})

export function readEmbeddingRequest(request: JsonBody): ChatRequest {
  const { body, ...read } = readFields(request, EMBEDDING_FIELDS)
  const inputs = readPrompts('input', body.input, MAX_INPUTS, read.raw)
  const empty = inputs.indexOf('')
  if (empty >= 0)
    throw badField(Array.isArray(body.input) ? `input[${empty}]` : 'input', 'a text that is not empty', '')
  return {
    ...read,
    namedCap: 0,
    messageCount: inputs.length,
    asksCacheWrite: false,
    body,
    embedding: {
      inputs,
      dimensions: body.dimensions as number | undefined,
      format: body.encoding_format === 'base64' ? 'base64' : 'float',
    },
  }
}

/** Values by which an upstream embeds the beginning or the end of a text that is too long. */
const TRUNCATES: ReadonlySet<unknown> = new Set(['START', 'END'])

/** Refuses more numbers than an answer holds, and a text that is longer than the model takes. */
export function requireRoom({ embedding, body }: ChatRequest, model: PricedModel): void {
  if (!embedding) return
  requireNumbers(embedding, model)
  if (!TRUNCATES.has(body.truncate)) requireLengths(embedding, model)
}

/** A batch is embedded, and billed, in parts: one text that is too long would be found only after others are paid for. */
function requireLengths({ inputs }: EmbeddingRequest, { id, contextLength: most }: PricedModel): void {
  const place = inputs.findIndex(
    (input) => input.length > most && (typeof input !== 'string' || hasMoreTokens(input, most)),
  )
  if (place < 0) return
  const message = `'input[${place}]' is too long: the model '${id}' takes at most ${most} tokens of one text.`
  throw badRequest('context_length_exceeded', message, `input[${place}]`)
}

function requireNumbers({ inputs, dimensions }: EmbeddingRequest, { id, dimensions: most = 0 }: PricedModel): void {
  if (dimensions !== undefined && dimensions > most) {
    const message = `'dimensions' is ${dimensions}, but a vector of the model '${id}' has at most ${most} numbers.`
    throw badRequest('invalid_value', message, 'dimensions')
  }
  const each = dimensions ?? most
  const room = Math.floor(MOST_NUMBERS / each)
  if (inputs.length <= room) return
  const message = `'input' has ${inputs.length} texts, but one answer holds at most ${MOST_NUMBERS} numbers: with ${each} to a vector, send at most ${room} texts at once.`
  throw badRequest('invalid_value', message, 'input')
}

/** OpenAI's list of embeddings, vector by vector: the whole text may be too long for the memory. */
export function* writeEmbedding(
  { model, chat }: AnswerHead,
  { vectors }: Embedding,
  { tokens, cost }: { readonly tokens: number; readonly cost: Nano },
): Generator<string, void, undefined> {
  const format = chat.embedding?.format ?? 'float'
  yield '{"object":"list","data":['
  for (const [index, vector] of vectors.entries()) {
    yield `${index > 0 ? ',' : ''}{"object":"embedding","index":${index},"embedding":${writeVector(vector, format)}}`
  }
  const counts = { prompt_tokens: tokens, total_tokens: tokens, cost: moneyLiteral(cost) }
  yield `],"model":${JSON.stringify(model)},"usage":${JSON.stringify(counts)}}`
}
