import { z } from 'zod'
import { flag, kind, orNull, text } from '../../../../layers/admin/api/shapes/parts.ts'
import { CHAT_FIELDS } from '../../../../layers/gateway/wire/chat-fields.ts'
import { MAX_MESSAGES } from '../../../../layers/gateway/wire/message-fields.ts'
import * as part from './parts.ts'

// OpenAI's chat completions.

export const ContentPart = z
  .looseObject({
    type: text(
      'text, image_url, input_audio, audio_url, video_url or file; of an assistant text, refusal or thinking.',
    ),
    text: text('The text, of a part of the type text.').optional(),
  })
  .describe('A piece of a message. It has a field by the name of its type.')

export const Message = z
  .looseObject({
    role: z
      .enum(['system', 'developer', 'user', 'assistant', 'tool', 'function'])
      .describe('The author of the message.'),
    content: z
      .union([z.string(), z.null(), z.array(ContentPart)])
      .describe('A text, or a list of content parts. Only an assistant’s and a function’s message may have none.')
      .optional(),
  })
  .describe('A message of the conversation.')

const request = {
  model: part.model,
  messages: z.array(Message).min(1).max(MAX_MESSAGES).describe('The conversation so far.'),
  max_tokens: part.maybe(
    part.outputCap.describe(
      'The most tokens of an answer. Without it, or if it is larger, the model’s own maximum holds.',
    ),
  ),
  max_completion_tokens: part.maybe(
    part.outputCap.describe('The same, under OpenAI’s newer name. The larger of both counts.'),
  ),
  ...part.drawing,
  n: part.maybe(z.int().min(1).max(128).describe('The number of choices; 1 unless given.')),
  stream: part.stream,
  stream_options: part.streamOptions,
  logprobs: part.maybe(flag('The answer has the log probabilities of its tokens.')),
  top_logprobs: part.maybe(z.int().min(0).max(20).describe('The number of likely tokens to tell at each position.')),
  tools: part.maybe(
    z
      .array(z.looseObject({}))
      .max(1024)
      .describe(
        'Tools that you run: `function` or `custom`. A tool that a provider runs may cost extra, and is a 400.',
      ),
  ),
  tool_choice: part.maybe(
    z
      .union([z.string(), z.looseObject({})])
      .describe('none, auto, required, or the tool that the model must call; auto unless given.'),
  ),
  parallel_tool_calls: part.maybe(flag('The model may call several tools at once.')),
  response_format: part.maybe(part.open('The form of the answer: `text`, `json_object` or `json_schema`.')),
  reasoning_effort: part.maybe(text('How long the model thinks: none, minimal, low, medium, high, xhigh or max.')),
  metadata: part.maybe(part.open('Names and values of your own; at most 64.')),
}

export const ChatCompletionRequest = z
  .looseObject(request)
  .describe(
    `OpenAI’s request for a chat completion. ${part.otherFields(new Map(Object.entries(CHAT_FIELDS)), request)}`,
  )

const FUNCTION = {
  name: part.name('The name of the function.'),
  arguments: text('Its arguments as JSON, as the model wrote them.'),
}
const CUSTOM = { name: part.name('The name of the tool.'), input: text('Its input, as the model wrote it.') }
const id = part.name('The id of the call, to be sent back with its result.')

export const ToolCall = z
  .discriminatedUnion('type', [
    z.object({
      id,
      type: z.literal('function').describe('The kind of the tool.'),
      function: z.object(FUNCTION).describe('The function that is called.'),
    }),
    z.object({
      id,
      type: z.literal('custom').describe('The kind of the tool.'),
      custom: z.object(CUSTOM).describe('The custom tool that is called.'),
    }),
  ])
  .describe('A call of a tool, for you to run.')

const content = orNull(text('The text of the answer; null if there is none.'))
const refusal = orNull(text('The words with which the model refuses; null if it does not.'))

export const AssistantMessage = z
  .looseObject({
    role: z.literal('assistant').describe('The author of the message.'),
    content,
    refusal,
    tool_calls: z.array(ToolCall).min(1).describe('The calls of tools, if there are any.').optional(),
    function_call: z.object(FUNCTION).describe('The call of a function, for requests with `functions`.').optional(),
  })
  .describe('The message that the model wrote. Thoughts and other fields of the upstream travel on.')

const likelihood = {
  token: text('The token.'),
  logprob: z.number().describe('Its log probability.'),
  bytes: part.maybe(part.list(z.int(), 'Its bytes; null if it has no text.')),
}
const likely = part.list(z.looseObject(likelihood), 'The likeliest tokens at this position.').optional()
const tokens = (words: string) => part.maybe(part.list(z.looseObject({ ...likelihood, top_logprobs: likely }), words))

export const Logprobs = z
  .looseObject({ content: tokens('The tokens of the content.'), refusal: tokens('The tokens of the refusal.') })
  .describe('The log probabilities of the tokens, as the upstream tells them.')

const logprobs = Logprobs.nullable().describe('The log probabilities, if they were asked for; else null.')
const finishReason = z.enum(['stop', 'length', 'tool_calls', 'content_filter', 'function_call'])

const head = {
  id: part.name('`chatcmpl-` and the id of the request.'),
  created: part.created,
  model: part.answeredBy,
  system_fingerprint: part.fingerprint,
}

const choice = z.object({
  index: part.index,
  message: AssistantMessage.describe('The answer.'),
  logprobs,
  finish_reason: finishReason.describe('The reason for which the answer ended.'),
})

export const ChatCompletion = z
  .object({
    ...head,
    object: kind('chat.completion'),
    choices: z.array(choice).min(1).describe('The answers, as many as n.'),
    usage: part.billed,
  })
  .describe('A whole answer.')

const piece = {
  name: text('The name, in the first piece.').optional(),
  arguments: text('More of the arguments.').optional(),
  input: text('More of the input.').optional(),
}
const toolCallPiece = z.looseObject({
  index: part.size('The position of the call in the answer.'),
  id: part.name('The id of the call, in its first piece.').optional(),
  type: z.enum(['function', 'custom']).describe('The kind of the tool, in the first piece.').optional(),
  function: z.looseObject(piece).describe('More of the call of a function.').optional(),
  custom: z.looseObject(piece).describe('More of the call of a custom tool.').optional(),
})

const delta = z
  .looseObject({
    role: z.literal('assistant').describe('The author, in the first piece of a choice.').optional(),
    content: orNull(text('More of the text.')).optional(),
    refusal: orNull(text('More of the refusal.')).optional(),
    tool_calls: part.list(toolCallPiece, 'More of the calls of tools.').optional(),
    function_call: z.looseObject(piece).describe('More of the call of a function.').optional(),
  })
  .describe('The piece of the message that this chunk adds.')

const chunkChoice = z.object({
  index: part.index,
  delta,
  logprobs,
  finish_reason: finishReason.nullable().describe('The reason for which the answer ended; null until then.'),
})

export const ChatCompletionChunk = z
  .object({
    ...head,
    object: kind('chat.completion.chunk'),
    choices: part.list(chunkChoice, 'One piece of one choice; empty in the chunk that has the usage.'),
    usage: part.billedLast,
  })
  .describe('The value after `data: ` of one event of a stream.')
