import { z } from 'zod'
import { flag, text, texts } from '../../../../layers/admin/api/shapes/parts.ts'
import { RESPONSES_FIELDS } from '../../../../layers/gateway/contracts/responses/responses-fields.ts'
import { MAX_MESSAGES } from '../../../../layers/gateway/wire/message-fields.ts'
import * as part from './parts.ts'

// The request of OpenAI's Responses, without anything that is stored.

const unstored = (words: string) => z.null().describe(`Must be left out: nothing is stored. ${words}`).optional()

const request = {
  model: part.model,
  input: z
    .union([z.string().min(1), z.array(z.looseObject({})).min(1).max(MAX_MESSAGES)])
    .describe(
      'A text, or items: message, reasoning, function_call, function_call_output, custom_tool_call or custom_tool_call_output. A reference to an item is a 400.',
    ),
  instructions: part.maybe(text('The instructions to the model.')),
  max_output_tokens: part.maybe(
    part.outputCap.describe(
      'The most tokens of an answer. Without it, or if it is larger, the model’s own maximum holds.',
    ),
  ),
  temperature: part.drawing.temperature,
  top_p: part.drawing.top_p,
  top_logprobs: part.maybe(z.int().min(0).max(20).describe('The number of likely tokens to tell at each position.')),
  stream: part.stream,
  store: part.maybe(flag('Accepted; nothing is stored.')),
  parallel_tool_calls: part.maybe(flag('The model may call several tools at once.')),
  tools: part.maybe(
    z
      .array(
        z.looseObject({
          type: z.enum(['function', 'custom', 'namespace']).describe('The kind of the tool.'),
          name: part.name('The name of the tool.'),
        }),
      )
      .max(1024)
      .describe('Tools that you run. Those that OpenAI runs are a 400.'),
  ),
  tool_choice: part.maybe(
    z
      .union([z.enum(['none', 'auto', 'required']), z.looseObject({})])
      .describe('none, auto, required, or the tool that the model must call; auto unless given.'),
  ),
  text: part.maybe(part.open('The `format` of the answer (text, json_object or json_schema) and its `verbosity`.')),
  reasoning: part.maybe(part.open('The `effort` of thinking, and the `summary` of the thoughts to be told.')),
  include: part.maybe(texts('More to be told, such as reasoning.encrypted_content.')),
  truncation: part.maybe(z.enum(['auto', 'disabled']).describe('The handling of an input that is too long.')),
  metadata: part.maybe(part.open('Names and values of your own; at most 64.')),
  user: part.drawing.user,
  prompt_cache_key: part.maybe(
    text('Your name for a prompt that begins alike. It goes out as a name of this key only.'),
  ),
  background: part.maybe(z.literal(false).describe('False: an answer cannot be fetched later.')),
  previous_response_id: unstored('Send the earlier items in input.'),
  conversation: unstored('Send the items of the conversation in input.'),
  prompt: unstored('Send the text of the prompt in instructions and input.'),
}

export const ResponseRequest = z
  .looseObject(request)
  .describe(
    `OpenAI’s request for a response. previous_response_id, conversation, background, prompt, references to items and the tools that OpenAI runs are a 400, because nothing is stored and only tokens are billed. ${part.otherFields(RESPONSES_FIELDS.shapes, request)}`,
  )
