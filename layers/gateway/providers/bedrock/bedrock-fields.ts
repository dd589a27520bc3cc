import { COMMON_HINTS, COMMON_LACKS, COMMON_WORDS } from '../conversation/common-fields.ts'
import { type FieldTable, fieldTable, type Lack } from '../conversation/field-table.ts'

/** Converse cannot say that tools are called one at a time; where none may be called, nothing is lost. */
const parallelCalls: Lack = (value, { tools, tool_choice: choice }) =>
  value === false && Array.isArray(tools) && tools.length > 0 && choice !== 'none'
    ? 'must be true: this model may call several tools at once'
    : undefined

/** The fields that Converse has words for. Each model has its own ways to think there. */
export const BEDROCK_FIELDS: FieldTable = fieldTable({
  says: COMMON_WORDS,
  leavesOut: [...COMMON_HINTS, 'top_k', 'user', 'safety_identifier'],
  lacks: {
    ...COMMON_LACKS,
    parallel_tool_calls: parallelCalls,
    reasoning_effort: () => 'must be left out: how hard this model thinks cannot be chosen',
  },
})
