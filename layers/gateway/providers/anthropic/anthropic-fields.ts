import { COMMON_HINTS, COMMON_LACKS, COMMON_WORDS } from '../conversation/common-fields.ts'
import { type FieldTable, fieldTable } from '../conversation/field-table.ts'

const EFFORTS: ReadonlyMap<unknown, string> = new Map([
  ['minimal', 'low'],
  ['low', 'low'],
  ['medium', 'medium'],
  ['high', 'high'],
  ['xhigh', 'xhigh'],
  ['max', 'max'],
])

/** The fields that the Messages API has words for. */
export const ANTHROPIC_FIELDS: FieldTable = fieldTable({
  says: [...COMMON_WORDS, 'parallel_tool_calls', 'thinking', 'top_k', 'user', 'safety_identifier'],
  leavesOut: COMMON_HINTS,
  lacks: {
    ...COMMON_LACKS,
    reasoning_effort: (value) =>
      value === 'none' || EFFORTS.has(value)
        ? undefined
        : `must be one of none, ${[...EFFORTS.keys()].join(', ')} with this model`,
  },
})

/** How hard to think, in Anthropic's words; undefined for 'none' and for no word at all. */
export function effortOf(wanted: unknown): string | undefined {
  return EFFORTS.get(wanted)
}
