import { z } from 'zod'
import { UsageRecord } from '../../../layers/admin/api/shapes/usage-record.ts'
import type { ENDPOINTS } from '../../../layers/gateway/endpoints.ts'
import * as answers from './contracts/answers.ts'
import * as requests from './contracts/requests.ts'
import { ApiKey } from './shapes/api-key.ts'
import { ErrorBody } from './shapes/errors.ts'
import { Model, ModelList } from './shapes/models.ts'
import { Quote, QuoteRequest } from './shapes/quote.ts'
import { Credits, USAGE_QUERY, UsageList, UsageSums } from './shapes/usage.ts'

export type PublicPath = (typeof ENDPOINTS)[keyof typeof ENDPOINTS]['routes'][number]['path']

type Operation = {
  readonly operationId: string
  readonly tag: keyof typeof TAGS
  readonly summary: string
  /** Beside its scope. */
  readonly description?: string
  /** The meaning of `{id}` in the path. */
  readonly id?: string
  /** The parameters of the query, by name. */
  readonly query?: Readonly<Record<string, { readonly schema: z.ZodType; readonly words: string }>>
  readonly request?: z.ZodType
  readonly answer: z.ZodType
  readonly stream?: { readonly events: z.ZodType; readonly words: string; readonly ending: string }
}

export const TAGS = {
  Chat: 'OpenAI’s chat completions, Responses and text completions.',
  Messages: 'Anthropic’s Messages.',
  Embeddings: 'OpenAI’s embeddings.',
  Models: 'The models that can be asked, and their prices.',
  Account: 'The calling key, and its requests.',
}

const COMMENTS = 'Lines that begin with `:` are comments: `: keep-alive` in pauses, and `: x-svc-cost <credits>`'
const COST = ': x-svc-cost 0.00000135'

const chunks = (chunk: z.ZodType) => ({
  events: z.union([chunk, ErrorBody]),
  words: `Each \`data:\` event is one chunk. A failure after the first byte is one error event and the end, without [DONE]. ${COMMENTS} just before \`data: [DONE]\`.`,
  ending: `${COST}\n\ndata: [DONE]`,
})

/** By the path of an endpoint. */
export const OPERATIONS: Readonly<Record<PublicPath, Operation>> = {
  '/v1/chat/completions': {
    operationId: 'createChatCompletion',
    tag: 'Chat',
    summary: 'A chat completion',
    request: requests.ChatCompletionRequest,
    answer: answers.ChatCompletion,
    stream: chunks(answers.ChatCompletionChunk),
  },
  '/v1/responses': {
    operationId: 'createResponse',
    tag: 'Chat',
    summary: 'A response',
    description: 'OpenAI’s Responses without anything that is stored.',
    request: requests.ResponseRequest,
    answer: answers.Response,
    stream: {
      events: answers.ResponseEvent,
      words: `Each event has an \`event:\` line with its type and a \`data:\` line. The last is response.completed or response.incomplete; a failure after the first byte is an error event and response.failed. ${COMMENTS} at the end.`,
      ending: COST,
    },
  },
  '/v1/completions': {
    operationId: 'createCompletion',
    tag: 'Chat',
    summary: 'A text completion',
    description: 'The contract that is older than chat.',
    request: requests.CompletionRequest,
    answer: answers.Completion,
    stream: chunks(answers.CompletionChunk),
  },
  '/v1/embeddings': {
    operationId: 'createEmbedding',
    tag: 'Embeddings',
    summary: 'Vectors of texts',
    request: requests.EmbeddingRequest,
    answer: answers.EmbeddingList,
  },
  '/v1/messages': {
    operationId: 'createMessage',
    tag: 'Messages',
    summary: 'A message in the words of Anthropic’s Messages',
    request: requests.MessagesRequest,
    answer: answers.MessagesAnswer,
    stream: {
      events: z.union([answers.MessagesEvent, answers.MessagesError]),
      words: `Each event has its name in \`event:\` and in \`type\`. A failure after the first byte is one event of the type error and the end. ${COMMENTS} at the end.`,
      ending: COST,
    },
  },
  '/v1/messages/count_tokens': {
    operationId: 'countMessageTokens',
    tag: 'Messages',
    summary: 'The tokens of such a request',
    description: 'Free. Beyond four at once of a key it is a 429 with Retry-After.',
    request: requests.MessagesCountRequest,
    answer: answers.MessagesCount,
  },
  '/v1/models': {
    operationId: 'listModels',
    tag: 'Models',
    summary: 'The active models and their prices',
    answer: ModelList,
  },
  '/v1/models/{id+}': {
    operationId: 'getModel',
    tag: 'Models',
    summary: 'One model',
    description: 'An id may have slashes, encoded or not.',
    id: 'The id of a model.',
    answer: Model,
  },
  '/v1/key/introspect': {
    operationId: 'introspectKey',
    tag: 'Account',
    summary: 'Status, scopes, balance and limits of the calling key',
    answer: ApiKey,
  },
  '/v1/credits': {
    operationId: 'getCredits',
    tag: 'Account',
    summary: 'The credits of the calling key',
    answer: Credits,
  },
  '/v1/usage': {
    operationId: 'listUsage',
    tag: 'Account',
    summary: 'The requests of the calling key, or their sums',
    description: 'Free, and a call like any other for the limits. A key sees its own requests only.',
    query: USAGE_QUERY,
    answer: z.union([UsageList, UsageSums]).describe('A page of requests, or with `group` their sums.'),
  },
  '/v1/usage/{id+}': {
    operationId: 'getUsage',
    tag: 'Account',
    summary: 'The row of one request',
    description: 'A key sees its own requests only.',
    id: 'The X-Request-Id of an answer.',
    answer: UsageRecord,
  },
  '/v1/quote': {
    operationId: 'createQuote',
    tag: 'Account',
    summary: 'What a request would hold and cost',
    description:
      'Free, and a call like any other for the limits; nothing is held or sent to a provider. A request that its endpoint refuses is refused with the same error, in the format of that endpoint. Beyond four at once of a key it is a 429 with Retry-After.',
    request: QuoteRequest,
    answer: Quote,
  },
}
