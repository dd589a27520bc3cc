import { COMMON_IGNORED, COMMON_SUPPORTED, COMMON_UNSUPPORTED } from '../conversation/common-fields.ts'
import { type FieldCheck, type FieldTable, fieldTable } from '../conversation/field-table.ts'

/** Converse cannot limit tools to one call at a time; if none may be called, nothing is lost. */
const parallelCalls: FieldCheck = (value, { tools, tool_choice: choice }) =>
  value === false && Array.isArray(tools) && tools.length > 0 && choice !== 'none'
    ? 'must be true: this model may call several tools at once'
    : undefined

/** The fields that Converse supports. The options of reasoning differ by model there. */
export const BEDROCK_FIELDS: FieldTable = fieldTable({
  supported: COMMON_SUPPORTED,
  ignored: [...COMMON_IGNORED, 'top_k', 'user', 'safety_identifier'],
  unsupported: {
    ...COMMON_UNSUPPORTED,
    parallel_tool_calls: parallelCalls,
    reasoning_effort: () => 'must be left out: how hard this model thinks cannot be chosen',
  },
})
