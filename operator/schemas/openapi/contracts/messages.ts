import { z } from 'zod'
import { orNull, text, texts } from '../../../../layers/admin/api/shapes/parts.ts'
import { messageError } from '../../../../layers/gateway/contracts/messages/message-error.ts'
import { MESSAGES_FIELDS } from '../../../../layers/gateway/contracts/messages/messages-fields.ts'
import { ERROR_KINDS, type ErrorKind, GatewayError } from '../../../../layers/gateway/domain/gateway-error.ts'
import { MAX_MESSAGES } from '../../../../layers/gateway/wire/message-fields.ts'
import * as part from './parts.ts'

// Anthropic's Messages.

export const MessagesBlock = z
  .looseObject({
    type: part.name('The kind of the block: text, image, document, tool_use, tool_result, thinking and others.'),
  })
  .describe('A block of content, as Anthropic has it.')

export const MessagesMessage = z
  .looseObject({
    role: z.enum(['user', 'assistant', 'system']).describe('The author of the message.'),
    content: z.union([z.string(), z.array(MessagesBlock)]).describe('A text, or blocks of content.'),
  })
  .describe('A message of the conversation.')

const counted = {
  model: part.model,
  messages: z.array(MessagesMessage).min(1).max(MAX_MESSAGES).describe('The conversation so far.'),
  system: part.maybe(z.union([z.string(), z.array(MessagesBlock)]).describe('The instructions to the model.')),
  tools: part.maybe(
    z
      .array(z.looseObject({}))
      .max(1024)
      .describe(
        'Tools that you run, and Anthropic’s bash, text_editor and memory. Those that Anthropic runs are a 400.',
      ),
  ),
  tool_choice: part.maybe(part.open('auto, any, none, or the tool that the model must call.')),
  thinking: part.maybe(part.open('Makes the model think, within `budget_tokens` if they are given.')),
  output_config: part.maybe(part.open('The `effort` and the `format` of the answer.')),
  cache_control: part.maybe(part.open('Asks for the prompt to be written to a cache.')),
}

const request = {
  ...counted,
  max_tokens: part.outputCap.describe('The most tokens of an answer. If it is larger, the model’s own maximum holds.'),
  stream: part.stream,
  temperature: part.maybe(part.range(0, 1, 'How freely the next token is drawn; 0 takes the likeliest.')),
  top_p: part.drawing.top_p,
  top_k: part.maybe(part.size('Only so many of the likeliest tokens are drawn.')),
  stop_sequences: part.maybe(texts('The answer ends before any of these texts.')),
  metadata: part.maybe(part.open('`user_id`: your name for the end user.')),
}

const others = part.otherFields(MESSAGES_FIELDS.shapes, request)
export const MessagesRequest = z.looseObject(request).describe(`Anthropic’s request for a message. ${others}`)
export const MessagesCountRequest = z
  .looseObject(counted)
  .describe('A request whose tokens are to be counted. It may have every field of one for a message.')

export const MessagesCount = z
  .object({ input_tokens: part.size('The tokens that the prompt would have.') })
  .describe('The count.')

export const MessagesUsage = z
  .object({
    input_tokens: part.size('Tokens of the prompt that went through no cache.'),
    cache_creation_input_tokens: part.size('Tokens of the prompt that were written to a cache.'),
    cache_read_input_tokens: part.size('Tokens of the prompt that were read from a cache.'),
    output_tokens: part.size('Tokens of the answer, with those of thinking.'),
    output_tokens_details: z
      .object({ thinking_tokens: part.size('Of the output tokens, those that the model thought with.') })
      .nullable()
      .describe('Parts of the output tokens; null if it did not think.')
      .optional(),
    server_tool_use: z.null().describe('Null: Anthropic runs no tools here.').optional(),
    cost: part.cost.describe(`${part.cost.description} Absent where a stream begins.`).optional(),
    cache_creation: z
      .looseObject({
        ephemeral_5m_input_tokens: part.size('Written to the cache for five minutes.'),
        ephemeral_1h_input_tokens: part.size('Written to the cache for an hour.'),
      })
      .describe('Parts of the tokens that were written to a cache.')
      .optional(),
    inference_geo: z.null().describe('Null: the place is not known.').optional(),
    service_tier: z.literal('standard').describe('The tier at the list price.').optional(),
    speed: z.null().describe('Null: the speed is not known.').optional(),
  })
  .describe('The billed counts and the charge, in Anthropic’s sense.')

const ending = {
  stop_reason: orNull(
    z
      .enum(['end_turn', 'max_tokens', 'stop_sequence', 'tool_use', 'refusal', 'model_context_window_exceeded'])
      .describe('The reason for which the answer ended; null while it goes on.'),
  ),
  stop_sequence: orNull(text('The stop sequence that ended it, if one did.')),
  stop_details: orNull(part.open('More about a refusal, if there is more.')).optional(),
}

export const MessagesAnswer = z
  .object({
    id: z
      .string()
      .regex(/^msg_[0-9A-HJKMNP-TV-Z]{26}$/)
      .describe('`msg_` and the id of the request.'),
    type: z.literal('message').describe('The kind of this object.'),
    role: z.literal('assistant').describe('The author of the message.'),
    model: part.answeredBy,
    content: part.list(MessagesBlock, 'The blocks of the answer.'),
    container: z.null().describe('Null: there are no containers.').optional(),
    diagnostics: z.null().describe('Null: there are no diagnostics.').optional(),
    ...ending,
    usage: MessagesUsage.describe('The billed counts and the charge of this answer.'),
  })
  .describe('A whole message.')

const event = <Type extends string, Shape extends z.ZodRawShape>(type: Type, shape: Shape) =>
  z.object({ type: z.literal(type).describe('The kind of the event, as in its `event:` line.'), ...shape })
const index = part.size('The position of the block in the content.')

export const MessagesEvent = z
  .discriminatedUnion('type', [
    event('message_start', { message: MessagesAnswer.describe('The message, without its content.') }),
    event('ping', {}),
    event('content_block_start', { index, content_block: MessagesBlock.describe('The block, still empty.') }),
    event('content_block_delta', {
      index,
      delta: z.looseObject({ type: part.name('The kind of the piece.') }).describe('The piece that is added.'),
    }),
    event('content_block_stop', { index }),
    event('message_delta', {
      delta: z
        .object({ ...ending, container: z.null().describe('Null: there are no containers.').optional() })
        .describe('The end of the message.'),
      usage: MessagesUsage.describe('The billed counts and the charge of this answer.'),
    }),
    event('message_stop', {}),
  ])
  .describe('One event of a stream.')

const errorType = (kind: ErrorKind) =>
  (messageError(new GatewayError(kind, 'why'), '') as { error: { type: string } }).error.type

export const MessagesError = z
  .object({
    type: z.literal('error').describe('The kind of this object.'),
    error: z
      .object({
        type: z.enum([...new Set(ERROR_KINDS.map(errorType))]).describe('The kind of the error, in Anthropic’s words.'),
        message: part.name('The reason, for people.'),
      })
      .describe('The refusal.'),
    request_id: part.name('The id of the request.'),
  })
  .describe('An error in the shape of Anthropic’s.')
