import { COMMON_IGNORED, COMMON_SUPPORTED, COMMON_UNSUPPORTED } from '../conversation/common-fields.ts'
import { type FieldCheck, type FieldTable, fieldTable } from '../conversation/field-table.ts'

const SENT = ['verbosity', 'prompt_cache_key', 'prompt_cache_retention', 'service_tier']
const { logprobs: _, top_logprobs: __, ...UNSUPPORTED } = COMMON_UNSUPPORTED

export const RESPONSES_FIELDS: FieldTable = fieldTable({
  supported: [
    ...COMMON_SUPPORTED,
    ...SENT,
    'parallel_tool_calls',
    'reasoning_effort',
    'logprobs',
    'top_logprobs',
    'user',
    'safety_identifier',
  ],
  ignored: COMMON_IGNORED.filter((name) => !SENT.includes(name)),
  unsupported: { ...UNSUPPORTED, stop: () => 'must be left out: this model takes no stop texts' },
})

const any: FieldCheck = () => undefined

/** The fields of Responses itself that do not change a provider's bill. The contract has checked the tools already. */
export const ORIGINAL_FIELDS: FieldTable = new Map(
  [
    'input',
    'instructions',
    'tools',
    'tool_choice',
    'parallel_tool_calls',
    'text',
    'reasoning',
    'include',
    'truncation',
    'temperature',
    'top_p',
    'top_logprobs',
    'user',
    'safety_identifier',
    'prompt_cache_key',
    'prompt_cache_retention',
    'service_tier',
  ].map((name) => [name, any] as const),
)
