import { z } from 'zod'
import type { ErrorBody } from '../../../cli/schemas/responses.ts'
import type { Model, ModelList } from '../../../cli/schemas/shapes.ts'
import { checkerOf } from '../../documents/support/openapi.ts'

// OpenAI's answers, in which a field that they do not have, nor we add, is a fault.

const name = z.string().min(1)
const text = z.string()
const size = z.int().min(0)
const open = z.looseObject({})
const cost = z.number().min(0)

/** An object of this type, with these fields and no others. */
const typed = <Type extends string, Shape extends z.ZodRawShape>(type: Type, shape: Shape) =>
  z.strictObject({ type: z.literal(type), ...shape })

type Counts = Readonly<Record<string, unknown>>

/** A schema cannot say that the total is the sum. */
function isSum({ usage }: { readonly usage?: Counts | null | undefined }): boolean {
  if (!usage) return true
  const { prompt_tokens, completion_tokens, input_tokens = prompt_tokens, output_tokens = completion_tokens } = usage
  return usage.total_tokens === Number(input_tokens) + Number(output_tokens)
}

// Chat and text completions.

const usage = z.strictObject({
  prompt_tokens: size,
  completion_tokens: size,
  total_tokens: size,
  prompt_tokens_details: z.looseObject({ cached_tokens: size }),
  completion_tokens_details: open.optional(),
  cost,
})
const head = (prefix: string) => ({
  id: name.regex(new RegExp(`^${prefix}`)),
  created: size,
  model: name,
  system_fingerprint: name.optional(),
})

const calledFunction = z.strictObject({ name, arguments: text })
const toolCall = z.discriminatedUnion('type', [
  typed('function', { id: name, function: calledFunction }),
  typed('custom', { id: name, custom: z.strictObject({ name, input: text }) }),
])
const assistantMessage = z.looseObject({
  role: z.literal('assistant'),
  content: text.nullable(),
  refusal: text.nullable(),
  tool_calls: z.array(toolCall).min(1).optional(),
  function_call: calledFunction.optional(),
})

const likelihood = { token: text, logprob: z.number(), bytes: z.array(z.int()).nullish() }
const likely = z.array(z.looseObject(likelihood)).optional()
const tokens = z.array(z.looseObject({ ...likelihood, top_logprobs: likely })).nullish()
const choice = { index: size, logprobs: z.looseObject({ content: tokens, refusal: tokens }).nullable() }
const finishReason = z.enum(['stop', 'length', 'tool_calls', 'content_filter', 'function_call'])

export const completion = z
  .strictObject({
    ...head('chatcmpl-'),
    object: z.literal('chat.completion'),
    choices: z.array(z.strictObject({ ...choice, message: assistantMessage, finish_reason: finishReason })).min(1),
    usage,
  })
  .refine(isSum)

const piece = z.looseObject({ name: text.optional(), arguments: text.optional(), input: text.optional() }).optional()
const calledPiece = z.looseObject({
  index: size,
  id: name.optional(),
  type: z.enum(['function', 'custom']).optional(),
  function: piece,
  custom: piece,
})
const delta = z.looseObject({
  role: z.literal('assistant').optional(),
  content: text.nullish(),
  refusal: text.nullish(),
  tool_calls: z.array(calledPiece).optional(),
  function_call: piece,
})

export const chunk = z
  .strictObject({
    ...head('chatcmpl-'),
    object: z.literal('chat.completion.chunk'),
    choices: z.array(z.strictObject({ ...choice, delta, finish_reason: finishReason.nullable() })),
    usage: usage.nullish(),
  })
  .refine(isSum)
export type Chunk = z.infer<typeof chunk>

const textLogprobs = z.strictObject({
  tokens: z.array(text),
  token_logprobs: z.array(z.number().nullable()),
  top_logprobs: z.array(z.record(text, z.number()).nullable()).nullable(),
  text_offset: z.array(z.int()),
})
const textReason = z.enum(['stop', 'length', 'content_filter'])
const textChoice = z.strictObject({ index: size, text, logprobs: textLogprobs.nullable(), finish_reason: textReason })
const textHead = { ...head('cmpl-'), object: z.literal('text_completion') }

export const textCompletion = z.strictObject({ ...textHead, choices: z.array(textChoice).min(1), usage }).refine(isSum)
export const textChunk = z
  .strictObject({
    ...textHead,
    choices: z.array(textChoice.extend({ finish_reason: textReason.nullable() })),
    usage: usage.nullish(),
  })
  .refine(isSum)

// Embeddings.

const embedding = z.strictObject({
  object: z.literal('embedding'),
  index: size,
  embedding: z.union([z.array(z.number()).min(1), z.base64()]),
})
export const embeddingList = z.strictObject({
  object: z.literal('list'),
  data: z.array(embedding).min(1),
  model: name,
  usage: z.strictObject({ prompt_tokens: size, total_tokens: size, cost }),
})

// Responses.

const chance = { token: text, logprob: z.number(), bytes: z.array(z.int()) }
const logprobs = z.array(z.strictObject({ ...chance, top_logprobs: z.array(z.strictObject(chance)) }))
const part = z.discriminatedUnion('type', [
  typed('output_text', { text, annotations: z.array(z.never()), logprobs }),
  typed('refusal', { refusal: text }),
])
const summaryPart = typed('summary_text', { text })
const status = z.enum(['in_progress', 'completed', 'incomplete'])
const call = { id: name, call_id: name, name, namespace: name.optional() }
const item = z.discriminatedUnion('type', [
  typed('message', { id: name, status, role: z.literal('assistant'), content: z.array(part) }),
  typed('function_call', { ...call, status, arguments: text }),
  typed('custom_tool_call', { ...call, input: text }),
  typed('reasoning', { id: name, summary: z.array(summaryPart), encrypted_content: name.optional() }),
])
const tool = z.discriminatedUnion('type', [
  typed('function', { name, parameters: open.nullable(), strict: z.boolean().nullable() }).loose(),
  typed('custom', { name }).loose(),
  typed('namespace', { name, tools: z.array(open) }).loose(),
])

/** The fields that every response has, most of them as the request had them. */
const common = {
  id: name.regex(/^resp_/),
  object: z.literal('response'),
  created_at: z.int().min(1),
  model: name,
  background: z.literal(false),
  completed_at: z.null(),
  frequency_penalty: z.number().min(-2).max(2),
  instructions: text.nullable(),
  max_output_tokens: size.nullable(),
  max_tool_calls: size.nullable(),
  metadata: z.record(text, z.union([text, z.number(), z.boolean(), z.null()])),
  parallel_tool_calls: z.boolean(),
  presence_penalty: z.number().min(-2).max(2),
  previous_response_id: z.null(),
  prompt_cache_key: text.nullable(),
  reasoning: z.strictObject({ effort: text.nullable(), summary: text.nullable() }),
  safety_identifier: text.nullable(),
  service_tier: z.literal('default'),
  store: z.literal(false),
  temperature: z.number(),
  text: z.strictObject({ format: z.looseObject({ type: name }), verbosity: name.optional() }),
  tool_choice: z.union([z.enum(['none', 'auto', 'required']), z.looseObject({ type: name })]),
  tools: z.array(tool),
  top_logprobs: size,
  top_p: z.number(),
  truncation: z.enum(['auto', 'disabled']),
  usage: z.null(),
  user: name.nullable(),
}
const responseUsage = z.strictObject({
  input_tokens: size,
  input_tokens_details: z.strictObject({ cached_tokens: size, cache_write_tokens: size }),
  output_tokens: size,
  output_tokens_details: z.strictObject({ reasoning_tokens: size }),
  total_tokens: size,
  cost,
})
const whole = { ...common, error: z.null(), incomplete_details: z.null() }
const ended = { ...whole, output: z.array(item), usage: responseUsage }

const begun = z.strictObject({ ...whole, status: z.literal('in_progress'), output: z.array(z.never()) })
const completed = z.strictObject({ ...ended, status: z.literal('completed'), completed_at: z.int().min(1) })
const incomplete = z.strictObject({
  ...ended,
  status: z.literal('incomplete'),
  incomplete_details: z.strictObject({ reason: z.enum(['max_output_tokens', 'content_filter']) }),
})
const failureCode = z.enum(['server_error', 'invalid_prompt', 'rate_limit_exceeded'])
const failed = z.strictObject({
  ...whole,
  status: z.literal('failed'),
  error: z.strictObject({ code: failureCode, message: name }),
  output: z.array(item),
})
export const response = z.discriminatedUnion('status', [completed, incomplete]).refine(isSum)

const event = <Type extends string, Shape extends z.ZodRawShape>(type: Type, shape: Shape) =>
  typed(type, { sequence_number: size, ...shape })
const inItem = { output_index: size, item_id: name }
const inContent = { ...inItem, content_index: size }
const inSummary = { ...inItem, summary_index: size }
const failure = { code: name.nullable(), message: name, param: name.nullable() }

export const streamEvent = z
  .discriminatedUnion('type', [
    event('response.created', { response: begun }),
    event('response.in_progress', { response: begun }),
    event('response.completed', { response: completed }),
    event('response.incomplete', { response: incomplete }),
    event('response.failed', { response: failed }),
    event('response.output_item.added', { output_index: size, item }),
    event('response.output_item.done', { output_index: size, item }),
    event('response.content_part.added', { ...inContent, part }),
    event('response.content_part.done', { ...inContent, part }),
    event('response.output_text.delta', { ...inContent, delta: name, logprobs }),
    event('response.output_text.done', { ...inContent, text, logprobs }),
    event('response.refusal.delta', { ...inContent, delta: name }),
    event('response.refusal.done', { ...inContent, refusal: text }),
    event('response.function_call_arguments.delta', { ...inItem, delta: name }),
    event('response.function_call_arguments.done', { ...inItem, name, arguments: text }),
    event('response.custom_tool_call_input.delta', { ...inItem, delta: name }),
    event('response.custom_tool_call_input.done', { ...inItem, input: text }),
    event('response.reasoning_summary_part.added', { ...inSummary, part: summaryPart }),
    event('response.reasoning_summary_part.done', { ...inSummary, part: summaryPart }),
    event('response.reasoning_summary_text.delta', { ...inSummary, delta: name }),
    event('response.reasoning_summary_text.done', { ...inSummary, text }),
    event('error', { ...failure, error: z.strictObject({ type: name, ...failure }) }),
  ])
  .refine((one) => !('response' in one && 'usage' in one.response) || isSum(one.response))
export type StreamEvent = z.infer<typeof streamEvent>

// Shapes of our own, as docs/openapi.json has them.

function ours<Schema extends z.ZodType>(schema: string) {
  return checkerOf({ $ref: `#/components/schemas/${schema}` }) as z.ZodType<z.infer<Schema>>
}

export const errorAnswer = ours<typeof ErrorBody>('Error')
export const model = ours<typeof Model>('Model')
export const modelList = ours<typeof ModelList>('ModelList')
