import type { JsonObject } from '../../domain/basics/json-object.ts'
import { copied, isObject, isText } from '../../wire/basics/field-rules.ts'
import { arePacked } from '../../wire/chat/carried-thoughts.ts'
import { chatFieldTable, HINTS } from '../conversation/common-fields.ts'
import { type FieldTable, fieldTable, IGNORED, rows, sent, toFields } from '../conversation/field-table.ts'
import type { ChatCall } from '../provider.ts'
import { unsupported } from '../verdict.ts'
import { toItems, toToolChoice, toTools } from './to-items.ts'

const ENCRYPTED = 'reasoning.encrypted_content'

/** A request in the format of Responses: unchanged, if the caller used Responses itself. */
export function toResponsesRequest(call: ChatCall): Readonly<Record<string, unknown>> {
  const { chat, model, outputCap, asksWhole, extra } = call
  const isOriginal = chat.original?.contract === 'responses' && !chat.compacts
  const { include, ...asked } = isOriginal ? toOriginalRequest(call) : toFields(RESPONSES_FIELDS, chat.body, call)
  return {
    ...asked,
    ...Object.fromEntries(Object.entries(extra).filter(([name]) => !OURS.includes(name))),
    model,
    max_output_tokens: outputCap,
    stream: !asksWhole,
    // Thoughts go to the caller and back, since nothing is stored.
    store: false,
    include: [...new Set([...(Array.isArray(include) ? include : []), ENCRYPTED])],
  }
}

/** The caller's own fields, of a request in this format. */
export function toOriginalRequest(call: ChatCall): Readonly<Record<string, unknown>> {
  return { ...toFields(ORIGINAL_FIELDS, call.chat.original?.body ?? {}, call), model: call.model }
}

/** Results of tools that the provider runs. */
const OF_CALLS = /^\w+_call\./
const LOGPROBS = 'message.output_text.logprobs'

/** Written by us, or useless without a store. */
const OURS: readonly string[] = [
  ...['model', 'stream', 'stream_options', 'max_output_tokens', 'max_tool_calls', 'store', 'metadata'],
  ...['client_metadata', 'background'],
]

/** Fields that no other API format has. */
const NATIVE = ['context_management', 'image', 'personality'] as const

const SAME = [
  ...['temperature', 'top_p', 'top_logprobs', 'parallel_tool_calls', 'user', 'safety_identifier'],
  ...['prompt_cache_key', 'prompt_cache_retention', 'prompt_cache_options', 'service_tier', 'moderation'],
] as const

export const RESPONSES_FIELDS: FieldTable = chatFieldTable({
  ...rows(SAME, (name) => sent(name)),
  messages: sent('input', (messages) => toItems(messages as JsonObject[])),
  tools: sent('tools', (tools) => toTools(tools as JsonObject[])),
  tool_choice: sent('tool_choice', toToolChoice),
  response_format: sent('text.format', toFormat),
  verbosity: sent('text.verbosity'),
  reasoning_effort: sent('reasoning.effort'),
  reasoning: sent('reasoning', (wanted) => copied(wanted as JsonObject, ['effort', 'summary'])),
  logprobs: sent('include', (value) => (value === true ? [LOGPROBS] : undefined)),
  stop: { refuses: () => 'must be left out: this model takes no stop texts' },
})

/** The fields of Responses itself that do not change a provider's bill. The contract has checked the tools already. */
const ORIGINAL_FIELDS: FieldTable = fieldTable({
  ...rows(HINTS, () => IGNORED),
  ...rows(OURS, () => IGNORED),
  ...rows([...SAME, 'instructions', 'tools', 'tool_choice', 'text', 'truncation', ...NATIVE], (name) => sent(name)),
  // All that the provider runs by itself has a bound: flow/routing/offer-tools.ts.
  max_tool_calls: sent('max_tool_calls', (most, _, { chat }) => (chat.hosted.length > 0 ? most : undefined)),
  input: sent('input', (input) => (Array.isArray(input) ? input.filter(isReadable) : input)),
  include: sent('include', (names, _, { chat }) =>
    (names as string[]).filter((name) => name === LOGPROBS || (chat.hosted.length > 0 && OF_CALLS.test(name))),
  ),
  reasoning: sent('reasoning', (wanted) => copied(wanted as JsonObject, ['effort', 'summary', 'context', 'mode'])),
})

function toFormat(format: unknown): JsonObject | undefined {
  const { type, json_schema: schema } = format as JsonObject
  if (type === 'text') return undefined
  if (type === 'json_object') return { type }
  if (isObject(schema)) return { type: 'json_schema', ...schema }
  throw unsupported('response_format', "must be of type 'text', 'json_object' or 'json_schema' with this model")
}

/** An upstream that stores nothing refuses thoughts that it has not encrypted itself. */
function isReadable({ type, encrypted_content: sealed }: JsonObject): boolean {
  return type !== 'reasoning' || (isText(sealed) && !arePacked(sealed))
}
