import { z } from 'zod'

// OpenAI's published schema of a Response and of its events, as far as this gateway writes them: what it requires is
// required here, and nothing goes beyond it but `store`, the cost and an error's envelope, which OpenAI itself sends.

const text = z.string().min(1)
const count = z.int().min(0)
const place = z.int().min(0)

const logprob = z.strictObject({
  token: z.string(),
  logprob: z.number(),
  bytes: z.array(z.int()),
  top_logprobs: z.array(z.strictObject({ token: z.string(), logprob: z.number(), bytes: z.array(z.int()) })),
})

const outputText = z.strictObject({
  type: z.literal('output_text'),
  text: z.string(),
  annotations: z.array(z.never()),
  logprobs: z.array(logprob),
})
const refusal = z.strictObject({ type: z.literal('refusal'), refusal: z.string() })
const contentPart = z.discriminatedUnion('type', [outputText, refusal])
const summaryPart = z.strictObject({ type: z.literal('summary_text'), text: z.string() })

const status = z.enum(['in_progress', 'completed', 'incomplete'])
const item = z.discriminatedUnion('type', [
  z.strictObject({
    id: text,
    type: z.literal('message'),
    status,
    role: z.literal('assistant'),
    content: z.array(contentPart),
  }),
  z.strictObject({
    id: text,
    type: z.literal('function_call'),
    status,
    call_id: text,
    name: text,
    namespace: text.optional(),
    arguments: z.string(),
  }),
  z.strictObject({
    id: text,
    type: z.literal('custom_tool_call'),
    call_id: text,
    name: text,
    namespace: text.optional(),
    input: z.string(),
  }),
  z.strictObject({
    id: text,
    type: z.literal('reasoning'),
    summary: z.array(summaryPart),
    encrypted_content: text.optional(),
  }),
])

const tool = z.discriminatedUnion('type', [
  z.looseObject({
    type: z.literal('function'),
    name: text,
    parameters: z.looseObject({}).nullable(),
    strict: z.boolean().nullable(),
  }),
  z.looseObject({ type: z.literal('custom'), name: text }),
  z.looseObject({ type: z.literal('namespace'), name: text, tools: z.array(z.looseObject({})) }),
])

const usage = z
  .strictObject({
    input_tokens: count,
    input_tokens_details: z.strictObject({ cached_tokens: count, cache_write_tokens: count }),
    output_tokens: count,
    output_tokens_details: z.strictObject({ reasoning_tokens: count }),
    total_tokens: count,
    cost: z.number().min(0),
  })
  .refine((it) => it.total_tokens === it.input_tokens + it.output_tokens, 'the total is not the sum')

const base = {
  id: z.string().startsWith('resp_'),
  object: z.literal('response'),
  created_at: z.int().min(1),
  model: text,
  background: z.literal(false),
  instructions: z.string().nullable(),
  max_output_tokens: count.nullable(),
  max_tool_calls: count.nullable(),
  metadata: z.record(z.string(), z.string()),
  parallel_tool_calls: z.boolean(),
  previous_response_id: z.null(),
  prompt_cache_key: z.string().nullable(),
  reasoning: z.strictObject({ effort: z.string().nullable(), summary: z.string().nullable() }),
  safety_identifier: z.string().nullable(),
  service_tier: z.literal('default'),
  store: z.literal(false),
  temperature: z.number(),
  text: z.strictObject({ format: z.looseObject({ type: text }), verbosity: text.optional() }),
  tool_choice: z.union([z.enum(['none', 'auto', 'required']), z.looseObject({ type: text })]),
  tools: z.array(tool),
  top_logprobs: count,
  top_p: z.number(),
  truncation: z.enum(['auto', 'disabled']),
  user: text.optional(),
}

const inProgress = z.strictObject({
  ...base,
  status: z.literal('in_progress'),
  error: z.null(),
  incomplete_details: z.null(),
  output: z.array(z.never()),
})
export const completed = z.strictObject({
  ...base,
  status: z.literal('completed'),
  error: z.null(),
  incomplete_details: z.null(),
  output: z.array(item),
  usage,
})
export const incomplete = z.strictObject({
  ...base,
  status: z.literal('incomplete'),
  error: z.null(),
  incomplete_details: z.strictObject({ reason: z.enum(['max_output_tokens', 'content_filter']) }),
  output: z.array(item),
  usage,
})
const failed = z.strictObject({
  ...base,
  status: z.literal('failed'),
  error: z.strictObject({ code: z.enum(['server_error', 'invalid_prompt', 'rate_limit_exceeded']), message: text }),
  incomplete_details: z.null(),
  output: z.array(item),
})

/** A whole answer. */
export const response = z.discriminatedUnion('status', [completed, incomplete])

const event = <Type extends string, Shape extends z.ZodRawShape>(type: Type, shape: Shape) =>
  z.strictObject({ type: z.literal(type), sequence_number: place, ...shape })
const inItem = { output_index: place, item_id: text }
const inContent = { ...inItem, content_index: place }
const inSummary = { ...inItem, summary_index: place }

export const streamEvent = z.discriminatedUnion('type', [
  event('response.created', { response: inProgress }),
  event('response.in_progress', { response: inProgress }),
  event('response.completed', { response: completed }),
  event('response.incomplete', { response: incomplete }),
  event('response.failed', { response: failed }),
  event('response.output_item.added', { output_index: place, item }),
  event('response.output_item.done', { output_index: place, item }),
  event('response.content_part.added', { ...inContent, part: contentPart }),
  event('response.content_part.done', { ...inContent, part: contentPart }),
  event('response.output_text.delta', { ...inContent, delta: text, logprobs: z.array(logprob) }),
  event('response.output_text.done', { ...inContent, text: z.string(), logprobs: z.array(logprob) }),
  event('response.refusal.delta', { ...inContent, delta: text }),
  event('response.refusal.done', { ...inContent, refusal: z.string() }),
  event('response.function_call_arguments.delta', { ...inItem, delta: text }),
  event('response.function_call_arguments.done', { ...inItem, name: text, arguments: z.string() }),
  event('response.custom_tool_call_input.delta', { ...inItem, delta: text }),
  event('response.custom_tool_call_input.done', { ...inItem, input: z.string() }),
  event('response.reasoning_summary_part.added', { ...inSummary, part: summaryPart }),
  event('response.reasoning_summary_part.done', { ...inSummary, part: summaryPart }),
  event('response.reasoning_summary_text.delta', { ...inSummary, delta: text }),
  event('response.reasoning_summary_text.done', { ...inSummary, text: z.string() }),
  event('error', {
    code: text.nullable(),
    message: text,
    param: text.nullable(),
    error: z.strictObject({ type: text, code: text.nullable(), message: text, param: text.nullable() }),
  }),
])

export type WholeResponse = z.infer<typeof response>
export type StreamEvent = z.infer<typeof streamEvent>
