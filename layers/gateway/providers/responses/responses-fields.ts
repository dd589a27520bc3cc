import type { JsonObject } from '../../domain/basics/json-object.ts'
import { isObject } from '../../wire/basics/field-rules.ts'
import { chatFieldTable } from '../conversation/common-fields.ts'
import { type FieldTable, fieldTable, IGNORED, rows, sent } from '../conversation/field-table.ts'
import { textOf } from '../conversation/sent-values.ts'
import { unsupported } from '../verdict.ts'
import { carriedItems } from './carried-items.ts'
import { toItems } from './to-items.ts'
import { toToolChoice, toTools } from './to-tools.ts'

const LOGPROBS = 'message.output_text.logprobs'

/** Written by us, or useless without a store. */
export const OURS: readonly string[] = [
  'model',
  'stream',
  'stream_options',
  'max_output_tokens',
  'max_tool_calls',
  'store',
  'metadata',
  'client_metadata',
  'background',
]

/** JsonObject that Chat Completions and Responses have under one name. */
const SAME = [
  'temperature',
  'top_p',
  'top_logprobs',
  'parallel_tool_calls',
  'user',
  'safety_identifier',
  'prompt_cache_key',
  'prompt_cache_retention',
  'service_tier',
] as const

/** The fields of Chat Completions, and what they become in Responses. */
export const RESPONSES_FIELDS: FieldTable = chatFieldTable({
  ...rows(SAME, (name) => sent(name)),
  messages: sent('input', (messages) => toItems(messages as JsonObject[])),
  tools: sent('tools', (tools) => (Array.isArray(tools) && tools.length > 0 ? toTools(tools) : undefined)),
  tool_choice: sent('tool_choice', toToolChoice),
  response_format: sent('text.format', toFormat),
  verbosity: sent('text.verbosity', textOf),
  reasoning_effort: sent('reasoning.effort', textOf),
  logprobs: sent('include', (value) => (value === true ? [LOGPROBS] : undefined)),
  stop: { refuses: () => 'must be left out: this model takes no stop texts' },
})

/** The fields of Responses itself that do not change a provider's bill. The contract has checked the tools already. */
export const ORIGINAL_FIELDS: FieldTable = fieldTable({
  ...rows(OURS, () => IGNORED),
  ...rows([...SAME, 'instructions', 'tools', 'tool_choice', 'text', 'truncation'], (name) => sent(name)),
  input: sent('input', (input) => (Array.isArray(input) ? carriedItems(input) : input)),
  include: sent('include', (names) => (Array.isArray(names) ? names.filter((name) => name === LOGPROBS) : names)),
  reasoning: sent('reasoning', (wanted) => {
    if (!isObject(wanted)) return wanted
    const { effort, summary } = wanted
    return { ...(effort !== undefined && { effort }), ...(summary !== undefined && { summary }) }
  }),
})

function toFormat(format: unknown): JsonObject | undefined {
  if (!isObject(format) || format.type === 'text') return undefined
  if (format.type === 'json_object') return { type: 'json_object' }
  if (format.type !== 'json_schema' || !isObject(format.json_schema)) {
    throw unsupported('response_format', "must be of type 'text', 'json_object' or 'json_schema' with this model")
  }
  return { type: 'json_schema', ...format.json_schema }
}
