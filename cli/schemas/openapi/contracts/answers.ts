import { z } from 'zod'
import { messageError } from '../../../../layers/gateway/contracts/messages/message-head.ts'
import { ERROR_KINDS, type ErrorKind, GatewayError } from '../../../../layers/gateway/domain/basics/gateway-error.ts'
import { describedBy, name } from './parts.ts'

// The answers of OpenAI's and Anthropic's contracts. Only what they do not have by themselves is described.

const cost = z
  .number()
  .min(0)
  .describe(
    'The charge, in credits: a plain decimal with at most nine places. X-Svc-Cost has the same digits as text, for readers who do not want money as a floating-point number.',
  )

const BILLED = 'The billed counts, as the contract has them, and the charge.'

export const Usage = z.looseObject({ cost }).describe(BILLED)

const billed = Usage.describe('The billed counts and the charge of this answer.')
const LAST_USAGE = 'Only with include_usage: null, and the counts in the last chunk, whose choices are empty.'
const model = name('The model that was asked for.')
const id = (prefix: string) => name(`\`${prefix}\` and the id of the request.`).regex(new RegExp(`^${prefix}`))

const openAi = (page: string, words: string, ours: z.ZodRawShape) =>
  z.looseObject(ours).meta({ description: words, ...describedBy('OpenAI', page) })

const anthropic = (page: string, words: string, ours: z.ZodRawShape) =>
  z.looseObject(ours).meta({ description: words, ...describedBy('Anthropic', page) })

export const ChatCompletion = openAi('chat/object', 'A whole answer: OpenAI’s chat completion.', {
  id: id('chatcmpl-'),
  model,
  usage: billed,
})

export const ChatCompletionChunk = openAi(
  'chat-streaming',
  'The value after `data: ` of one event of a stream: OpenAI’s chunk of a chat completion.',
  { id: id('chatcmpl-'), model, usage: Usage.nullable().describe(LAST_USAGE).optional() },
)

export const Completion = openAi('completions/object', 'A whole text completion, as OpenAI has it.', {
  id: id('cmpl-'),
  model,
  usage: billed,
})

export const CompletionChunk = openAi(
  'completions/object',
  'The value after `data: ` of one event of a stream: OpenAI’s text completion, with more of the text.',
  { id: id('cmpl-'), model, usage: Usage.nullable().describe(LAST_USAGE).optional() },
)

export const EmbeddingList = openAi('embeddings/object', 'The vectors of the texts: OpenAI’s list of embeddings.', {
  model,
  usage: billed,
})

export const Response = openAi(
  'responses/object',
  'A whole answer: OpenAI’s response. Most of it repeats the request.',
  {
    id: id('resp_'),
    model,
    usage: Usage.describe(`${BILLED} Absent until the response has ended, and if it failed.`).optional(),
  },
)

export const ResponseEvent = openAi('responses-streaming', 'One event of a stream: OpenAI’s event of a response.', {
  type: name('The kind of the event, as in its `event:` line.'),
  response: Response.describe('The response, in the events of its beginning and of its end.').optional(),
})

export const MessagesAnswer = anthropic('messages', 'A whole message, as Anthropic has it.', {
  id: id('msg_'),
  model,
  usage: z
    .looseObject({ cost: cost.describe(`${cost.description} Absent where a stream begins.`).optional() })
    .describe(BILLED),
})

export const MessagesEvent = anthropic('messages-streaming', 'One event of a stream: Anthropic’s event of a message.', {
  type: name('The kind of the event, as in its `event:` line.'),
  usage: Usage.describe(`${BILLED} In \`message_delta\`.`).optional(),
})

export const MessagesCount = anthropic('messages-count-tokens', 'The count, as Anthropic has it.', {
  input_tokens: z.int().min(0).describe('The tokens that the prompt would have.'),
})

const errorType = (kind: ErrorKind) =>
  (messageError(new GatewayError(kind, 'why'), '') as { error: { type: string } }).error.type

export const MessagesError = z
  .object({
    type: z.literal('error').describe('The kind of this object.'),
    error: z
      .object({
        type: z.enum([...new Set(ERROR_KINDS.map(errorType))]).describe('The kind of the error, in Anthropic’s words.'),
        message: name('The reason, for people.'),
      })
      .describe('The refusal.'),
    request_id: name('The id of the request.'),
  })
  .describe('An error in the shape of Anthropic’s.')
