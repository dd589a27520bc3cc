import { COMPLETION_FIELDS } from '../../layers/gateway/contracts/completions/completion-request.ts'
import { EMBEDDING_FIELDS } from '../../layers/gateway/contracts/embeddings/embeddings.ts'
import { MESSAGES_FIELDS } from '../../layers/gateway/contracts/messages/messages-fields.ts'
import { OWN_WORDS } from '../../layers/gateway/contracts/responses/own-words.ts'
import { COUNT_FIELDS } from '../../layers/gateway/contracts/responses/read-count.ts'
import { RESPONSES_FIELDS } from '../../layers/gateway/contracts/responses/responses-fields.ts'
import type { Rows, Shape } from '../../layers/gateway/wire/basics/shape.ts'
import { CHAT_FIELDS } from '../../layers/gateway/wire/chat/chat-fields.ts'
import { wordsOf } from './client-guide.ts'
import { type Json, refTo } from './json-schema.ts'
import { NAMED_PARTS, requestSchema } from './request-schema.ts'

// The requests and answers of OpenAI's and Anthropic's contracts. The references of their makers describe them; here are
// the fields that the gateway takes, and what it adds to an answer.

type Contract = {
  readonly reference: string
  readonly names: { readonly request: string; readonly answer: string; readonly event?: string }
  readonly fields: Rows
  /** The fields that a request must have, none of them empty. */
  readonly required: readonly string[]
  readonly example: object
  /** The path of the request that has these fields, too, perhaps others, and requires fewer. */
  readonly like?: string
  /** The heading of docs/clients.md under which the fields have their words. */
  readonly heading: string
}

const OPENAI = 'https://platform.openai.com/docs/api-reference'
const ANTHROPIC = 'https://docs.anthropic.com/en/api'

const MESSAGES = [{ role: 'user', content: 'Hello' }]

/** A name of chat's for a field that has another here is refused. */
const RESPONSES = Object.fromEntries([...RESPONSES_FIELDS.shapes].filter(([field]) => !OWN_WORDS.has(field)))

export const CONTRACTS: Readonly<Record<string, Contract>> = {
  '/v1/chat/completions': {
    reference: `${OPENAI}/chat`,
    names: { request: 'ChatCompletionRequest', answer: 'ChatCompletion', event: 'ChatCompletionChunk' },
    fields: CHAT_FIELDS,
    required: ['model', 'messages'],
    example: { model: 'echo', messages: MESSAGES },
    heading: 'Fields of a chat request',
  },
  '/v1/responses': {
    reference: `${OPENAI}/responses`,
    names: { request: 'ResponseRequest', answer: 'Response', event: 'ResponseEvent' },
    fields: RESPONSES,
    required: ['input'],
    example: { model: 'echo', input: 'Hello' },
    like: '/v1/responses/input_tokens',
    heading: 'Responses',
  },
  '/v1/responses/input_tokens': {
    reference: `${OPENAI}/responses/input-tokens`,
    names: { request: 'ResponseCountRequest', answer: 'ResponseCount' },
    fields: { ...RESPONSES, personality: COUNT_FIELDS.shapes.get('personality') as Shape },
    required: ['model'],
    example: { model: 'echo', input: 'Hello' },
    heading: 'Responses',
  },
  '/v1/responses/compact': {
    reference: `${OPENAI}/responses/compact`,
    names: { request: 'CompactionRequest', answer: 'Compaction' },
    fields: RESPONSES,
    required: ['input'],
    example: { model: 'echo', input: 'Hello' },
    like: '/v1/responses/input_tokens',
    heading: 'Responses',
  },
  '/v1/completions': {
    reference: `${OPENAI}/completions`,
    names: { request: 'CompletionRequest', answer: 'Completion', event: 'CompletionChunk' },
    fields: Object.fromEntries(COMPLETION_FIELDS.shapes),
    required: ['model', 'prompt'],
    example: { model: 'echo', prompt: 'Hello', max_tokens: 16 },
    heading: 'Text completions',
  },
  '/v1/embeddings': {
    reference: `${OPENAI}/embeddings`,
    names: { request: 'EmbeddingRequest', answer: 'EmbeddingList' },
    fields: Object.fromEntries(EMBEDDING_FIELDS.shapes),
    required: ['model', 'input'],
    example: { model: 'text-embedding-3-small', input: ['Hello', 'there'] },
    heading: 'Embeddings',
  },
  '/v1/messages/count_tokens': {
    reference: `${ANTHROPIC}/messages-count-tokens`,
    names: { request: 'MessagesCountRequest', answer: 'MessagesCount' },
    fields: Object.fromEntries(MESSAGES_FIELDS.shapes),
    required: ['model', 'messages'],
    example: { model: 'echo', messages: MESSAGES },
    heading: "Anthropic's Messages",
  },
  '/v1/messages': {
    reference: `${ANTHROPIC}/messages`,
    names: { request: 'MessagesRequest', answer: 'MessagesAnswer', event: 'MessagesEvent' },
    fields: Object.fromEntries(MESSAGES_FIELDS.shapes),
    required: ['max_tokens'],
    example: { model: 'echo', max_tokens: 100, messages: MESSAGES },
    like: '/v1/messages/count_tokens',
    heading: "Anthropic's Messages",
  },
}

/** An object whose other fields are in the reference of its maker. */
const OPEN = { type: 'object', additionalProperties: {} }
const COST = 'The charge, in credits: a plain decimal with at most nine places. X-Svc-Cost has the same digits as text.'

const Usage = {
  ...OPEN,
  description: 'The counts that are billed, as the contract has them, and the charge.',
  properties: { cost: { type: 'number', minimum: 0, description: COST } },
  required: ['cost'],
}
const usage = { description: 'The counts that are billed, and the charge.', ...refTo('Usage') }
const lastUsage = { description: 'In an event at the end.', anyOf: [refTo('Usage'), { type: 'null' }] }

export const CONTRACT_SCHEMAS: Readonly<Record<string, Json>> = Object.assign(
  { Usage, ...NAMED_PARTS },
  ...Object.values(CONTRACTS).map(schemasOf),
)

function schemasOf({ reference, names, fields, required, example, like, heading }: Contract): Record<string, Json> {
  const { request, answer, event } = names
  const externalDocs = { description: 'The reference of its maker', url: reference }
  const words = wordsOf('| field | rule |', heading)
  const asked = like ? requestLike(like, fields, required, words) : requestSchema(fields, required, words)
  const refused = 'A field that is not among these is a 400, unless the operator lets it be left out.'
  const told = /Count$/.test(answer) ? {} : { properties: { usage }, required: ['usage'] }
  const streamed = { description: 'An event of a stream.', externalDocs, ...OPEN, properties: { usage: lastUsage } }
  return {
    [request]: { description: `A request of this contract. ${refused}`, externalDocs, examples: [example], ...asked },
    [answer]: { description: 'A whole answer of this contract.', externalDocs, ...OPEN, ...told },
    ...(event && { [event]: streamed }),
  }
}

function requestLike(path: string, fields: Rows, required: readonly string[], words: ReturnType<typeof wordsOf>): Json {
  const other = CONTRACTS[path] as Contract
  const own = Object.fromEntries(required.map((name) => [name, fields[name] as Shape]))
  const { properties, ...object } = requestSchema(own, required, words)
  const lacks = Object.keys(other.fields).filter((name) => !Object.hasOwn(fields, name))
  const absent = { description: `A 400: it is a field of ${path}.`, type: 'null' }
  const more = Object.fromEntries(lacks.map((name) => [name, absent]))
  return {
    allOf: [
      refTo(other.names.request),
      { ...object, additionalProperties: {}, properties: { ...(properties as Json), ...more } },
    ],
  }
}
