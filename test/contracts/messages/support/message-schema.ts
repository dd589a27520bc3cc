import { z } from 'zod'

// Strict schemas of what Anthropic publishes for answers, written by hand: a field that is not there is a fault.

const count = z.int().min(0)
const usageCounts = {
  input_tokens: count,
  output_tokens: count,
  cache_creation_input_tokens: count,
  cache_read_input_tokens: count,
  output_tokens_details: z.strictObject({ thinking_tokens: count }).nullable(),
  server_tool_use: z.null(),
}
const usageDetails = {
  cache_creation: z.strictObject({ ephemeral_5m_input_tokens: count, ephemeral_1h_input_tokens: count }),
  inference_geo: z.null(),
  service_tier: z.literal('standard'),
  speed: z.null(),
}
/** Ours, beside Anthropic's. */
const cost = z.number().min(0)

const citations = z.array(z.looseObject({ type: z.string() })).nullable()
const caller = z.strictObject({ type: z.literal('direct') })
const tool = { type: z.literal('tool_use'), id: z.string().min(1), name: z.string().min(1), caller }
const thinking = { type: z.literal('thinking'), thinking: z.string(), signature: z.string() }
const redacted = z.strictObject({ type: z.literal('redacted_thinking'), data: z.string().min(1) })

const block = z.union([
  z.strictObject({ type: z.literal('text'), text: z.string().min(1), citations }),
  z.strictObject(thinking),
  redacted,
  z.strictObject({ ...tool, input: z.record(z.string(), z.unknown()) }),
])
const begunBlock = z.union([
  z.strictObject({ type: z.literal('text'), text: z.literal(''), citations: z.null() }),
  z.strictObject({ ...thinking, thinking: z.literal(''), signature: z.literal('') }),
  redacted,
  z.strictObject({ ...tool, input: z.strictObject({}) }),
])
const delta = z.union([
  z.strictObject({ type: z.literal('text_delta'), text: z.string().min(1) }),
  z.strictObject({ type: z.literal('thinking_delta'), thinking: z.string().min(1) }),
  z.strictObject({ type: z.literal('signature_delta'), signature: z.string().min(1) }),
  z.strictObject({ type: z.literal('citations_delta'), citation: z.looseObject({}) }),
  z.strictObject({ type: z.literal('input_json_delta'), partial_json: z.string().min(1) }),
])

const stopReason = z.literal([
  'end_turn',
  'max_tokens',
  'stop_sequence',
  'tool_use',
  'refusal',
  'model_context_window_exceeded',
])
const ending = {
  stop_sequence: z.string().nullable(),
  stop_details: z.looseObject({ type: z.literal('refusal') }).nullable(),
}
const head = {
  id: z.string().regex(/^msg_[0-9A-Z]{26}$/),
  type: z.literal('message'),
  role: z.literal('assistant'),
  model: z.string().min(1),
  container: z.null(),
  diagnostics: z.null(),
}

/** A message that came whole. */
export const MESSAGE = z.strictObject({
  ...head,
  content: z.array(block),
  stop_reason: stopReason,
  ...ending,
  usage: z.strictObject({ ...usageCounts, ...usageDetails, cost }),
})

const begun = z.strictObject({
  ...head,
  content: z.array(z.never()),
  stop_reason: z.null(),
  stop_sequence: z.null(),
  stop_details: z.null(),
  usage: z.strictObject({ ...usageCounts, ...usageDetails }),
})

export const ERROR = z.strictObject({
  type: z.literal('error'),
  error: z.strictObject({
    type: z.literal([
      'invalid_request_error',
      'authentication_error',
      'billing_error',
      'permission_error',
      'not_found_error',
      'request_too_large',
      'rate_limit_error',
      'timeout_error',
      'api_error',
      'overloaded_error',
    ]),
    message: z.string().min(1),
  }),
  request_id: z.string().regex(/^req_[0-9A-Z]{26}$/),
})

const index = count
export const EVENT = z.union([
  z.strictObject({ type: z.literal('message_start'), message: begun }),
  z.strictObject({ type: z.literal('ping') }),
  z.strictObject({ type: z.literal('content_block_start'), index, content_block: begunBlock }),
  z.strictObject({ type: z.literal('content_block_delta'), index, delta }),
  z.strictObject({ type: z.literal('content_block_stop'), index }),
  z.strictObject({
    type: z.literal('message_delta'),
    delta: z.strictObject({ stop_reason: stopReason, ...ending, container: z.null() }),
    usage: z.strictObject({ ...usageCounts, cost }),
  }),
  z.strictObject({ type: z.literal('message_stop') }),
  ERROR,
])

export type MessageEvent = z.infer<typeof EVENT>
