import type { ChatRequest } from '../../domain/chat/chat.ts'
import type { Embedding } from '../../domain/chat/embedding.ts'
import type { Nano } from '../../domain/money/money.ts'
import { badField } from '../../wire/basics/field-rules.ts'
import { flag, integer, knownRows, option, shaped, word } from '../../wire/basics/shape.ts'
import { alias, MODEL } from '../../wire/chat/chat-fields.ts'
import { errorEnvelope } from '../../wire/chat/frames.ts'
import { promptShape, readPrompts } from '../../wire/chat/read-prompts.ts'
import { writeVector } from '../../wire/chat/vectors.ts'
import { moneyLiteral } from '../../wire/money/money-literal.ts'
import { type JsonBody, readFields } from '../../wire/requests/read-body.ts'
import type { AnswerHead, RequestContract } from '../contract.ts'

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

export const EMBEDDINGS_CONTRACT: RequestContract = {
  readRequest: readEmbeddingRequest,
  lastFrame: '',
  errorBody: errorEnvelope,
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
