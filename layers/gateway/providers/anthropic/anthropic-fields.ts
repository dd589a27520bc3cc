import { COMMON_IGNORED, COMMON_SUPPORTED, COMMON_UNSUPPORTED } from '../conversation/common-fields.ts'
import { type FieldTable, fieldTable } from '../conversation/field-table.ts'

const EFFORTS: ReadonlyMap<unknown, string> = new Map([
  ['minimal', 'low'],
  ['low', 'low'],
  ['medium', 'medium'],
  ['high', 'high'],
  ['xhigh', 'xhigh'],
  ['max', 'max'],
])

export const ANTHROPIC_FIELDS: FieldTable = fieldTable({
  supported: [...COMMON_SUPPORTED, 'parallel_tool_calls', 'thinking', 'top_k', 'user', 'safety_identifier'],
  ignored: COMMON_IGNORED,
  unsupported: {
    ...COMMON_UNSUPPORTED,
    reasoning_effort: (value) =>
      value === 'none' || EFFORTS.has(value)
        ? undefined
        : `must be one of none, ${[...EFFORTS.keys()].join(', ')} with this model`,
  },
})

/** The effort of reasoning in Anthropic's values; undefined for 'none' and for no effort. */
export function effortOf(wanted: unknown): string | undefined {
  return EFFORTS.get(wanted)
}
