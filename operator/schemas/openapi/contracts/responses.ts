import { z } from 'zod'
import { flag, kind, orNull, text } from '../../../../layers/admin/api/shapes/parts.ts'
import * as part from './parts.ts'

// The answers of OpenAI's Responses.

const likelihood = {
  token: text('The token.'),
  logprob: z.number().describe('Its log probability.'),
  bytes: part.list(z.int(), 'Its bytes.'),
}
export const ResponseLogprob = z
  .object({
    ...likelihood,
    top_logprobs: part.list(z.object(likelihood), 'The likeliest tokens at this position.'),
  })
  .describe('The log probability of a token.')

const logprobs = part.list(ResponseLogprob, 'The log probabilities of the tokens, if they were asked for.')

const type = <Name extends string>(name: Name) => z.literal(name).describe('The kind of this part or item.')

export const ResponsePart = z
  .discriminatedUnion('type', [
    z.object({
      type: type('output_text'),
      text: text('The text.'),
      annotations: part.list(z.never(), 'Always empty.'),
      logprobs,
    }),
    z.object({ type: type('refusal'), refusal: text('The words with which the model refuses.') }),
  ])
  .describe('A piece of a message.')

export const SummaryPart = z
  .object({ type: type('summary_text'), text: text('The text.') })
  .describe('A piece of the summary of a thought.')

const id = part.name('The id of the item.')
const status = z.enum(['in_progress', 'completed', 'incomplete']).describe('The state of the item.')
const call = {
  id,
  call_id: part.name('The id of the call, to be sent back with its result.'),
  name: part.name('The name of the tool.'),
  namespace: part.name('The namespace of the tool, if it has one.').optional(),
}

export const ResponseItem = z
  .discriminatedUnion('type', [
    z.object({
      id,
      type: type('message'),
      status,
      role: z.literal('assistant').describe('The author of the message.'),
      content: part.list(ResponsePart, 'The pieces of the message.'),
    }),
    z.object({ ...call, type: type('function_call'), status, arguments: text('Its arguments as JSON.') }),
    z.object({ ...call, type: type('custom_tool_call'), input: text('Its input.') }),
    z.object({
      id,
      type: type('reasoning'),
      summary: part.list(SummaryPart, 'The summary of the thought.'),
      encrypted_content: part.name('The provider’s proof of the thought, to be sent back as it is.').optional(),
    }),
  ])
  .describe('A message, a thought or a call of the model.')

export const ResponseTool = z
  .discriminatedUnion('type', [
    z.looseObject({
      type: type('function'),
      name: part.name('The name of the function.'),
      parameters: orNull(part.open('The JSON Schema of its arguments.')),
      strict: orNull(flag('The arguments must be as the schema says.')),
    }),
    z.looseObject({ type: type('custom'), name: part.name('The name of the tool.') }),
    z.looseObject({
      type: type('namespace'),
      name: part.name('The name of the namespace.'),
      tools: part.list(z.looseObject({}), 'The tools in it.'),
    }),
  ])
  .describe('A tool of the request.')

export const ResponseUsage = z
  .object({
    input_tokens: part.size('Tokens of the prompt, with those that went through a cache.'),
    input_tokens_details: z
      .object({
        cached_tokens: part.size('Of the input tokens, those that were read from a cache.'),
        cache_write_tokens: part.size('Of the input tokens, those that were written to a cache.'),
      })
      .describe('Parts of the input tokens.'),
    output_tokens: part.size('Tokens of the answer, with those of reasoning.'),
    output_tokens_details: z
      .object({ reasoning_tokens: part.size('Of the output tokens, those that the model thought with.') })
      .describe('Parts of the output tokens.'),
    total_tokens: part.size('Input and output together.'),
    cost: part.cost,
  })
  .describe('The billed counts and the charge.')

/** The fields that every response has, most of them as the request had them. */
const common = {
  id: z
    .string()
    .regex(/^resp_/)
    .describe('`resp_` and the id of the request.'),
  object: kind('response'),
  created_at: z.int().min(1).describe('The Unix time of the answer, in seconds.'),
  model: part.answeredBy,
  background: z.literal(false).describe('False: nothing is stored.'),
  instructions: orNull(text('The instructions of the request.')),
  max_output_tokens: orNull(part.size('The output cap of the request.')),
  max_tool_calls: orNull(part.size('The most calls of tools, of the request.')),
  metadata: z
    .record(z.string(), z.union([z.string(), z.number(), z.boolean(), z.null()]))
    .describe('The names and values of the request.'),
  parallel_tool_calls: flag('The model might call several tools at once.'),
  previous_response_id: z.null().describe('Null: nothing is stored.'),
  prompt_cache_key: orNull(text('The name of the prompt, of the request.')),
  reasoning: z
    .object({
      effort: orNull(text('The effort of thinking, of the request.')),
      summary: orNull(text('The summary of the thoughts that was asked for.')),
    })
    .describe('The wishes for thinking, of the request.'),
  safety_identifier: orNull(text('The name of the end user, of the request.')),
  service_tier: z.literal('default').describe('The tier at the list price.'),
  store: z.literal(false).describe('False: nothing is stored.'),
  temperature: z.number().describe('The temperature of the request; 1 unless given.'),
  text: z
    .object({
      format: z.looseObject({ type: part.name('The kind of the format.') }).describe('The form of the answer.'),
      verbosity: part.name('The wish for a short or a long answer.').optional(),
    })
    .describe('The wishes for the text, of the request.'),
  tool_choice: z
    .union([z.enum(['none', 'auto', 'required']), z.looseObject({ type: part.name('The kind of the tool.') })])
    .describe('The choice of a tool, of the request; auto unless given.'),
  tools: part.list(ResponseTool, 'The tools of the request.'),
  top_logprobs: part.size('The number of likely tokens to tell, of the request; 0 unless given.'),
  top_p: z.number().describe('The top_p of the request; 1 unless given.'),
  truncation: z.enum(['auto', 'disabled']).describe('The handling of a long input, of the request.'),
  user: part.name('The name of the end user, of the request.').optional(),
}

const state = <Name extends string>(name: Name) => z.literal(name).describe('The state of the response.')
const noError = z.null().describe('Null: it has not failed.')
const notCut = z.null().describe('Null: it was not cut.')
const output = part.list(ResponseItem, 'The answer: messages, thoughts and calls of tools.')
const usage = ResponseUsage.describe('The billed counts and the charge of this answer.')

export const ResponseInProgress = z
  .object({
    ...common,
    status: state('in_progress'),
    error: noError,
    incomplete_details: notCut,
    output: part.list(z.never(), 'Empty: the events that follow have it.'),
  })
  .describe('A response that has begun.')

export const ResponseCompleted = z
  .object({ ...common, status: state('completed'), error: noError, incomplete_details: notCut, output, usage })
  .describe('A response that came to its end by itself.')

export const ResponseIncomplete = z
  .object({
    ...common,
    status: state('incomplete'),
    error: noError,
    incomplete_details: z
      .object({ reason: z.enum(['max_output_tokens', 'content_filter']).describe('The reason.') })
      .describe('The reason for which it was cut.'),
    output,
    usage,
  })
  .describe('A response that was cut.')

export const ResponseFailed = z
  .object({
    ...common,
    status: state('failed'),
    error: z
      .object({
        code: z.enum(['server_error', 'invalid_prompt', 'rate_limit_exceeded']).describe('The kind of the failure.'),
        message: part.name('The reason, for people.'),
      })
      .describe('The failure.'),
    incomplete_details: notCut,
    output,
  })
  .describe('A response that failed after it had begun.')

export const Response = z
  .discriminatedUnion('status', [ResponseCompleted, ResponseIncomplete])
  .describe('A whole answer. Most of it repeats the request.')
