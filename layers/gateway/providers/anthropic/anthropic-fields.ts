import { isObject } from '../../wire/basics/field-rules.ts'
import { chatFieldTable } from '../conversation/common-fields.ts'
import { type FieldTable, READ, sent } from '../conversation/field-table.ts'
import { readAnswerSchema } from '../conversation/read-answer-schema.ts'
import { numberOf, stopsOf, textOf } from '../conversation/sent-values.ts'

const EFFORTS: ReadonlyMap<unknown, string> = new Map([
  ['minimal', 'low'],
  ['low', 'low'],
  ['medium', 'medium'],
  ['high', 'high'],
  ['xhigh', 'xhigh'],
  ['max', 'max'],
])

/** The fields of Chat Completions, and what they become in the Messages API. */
export const ANTHROPIC_FIELDS: FieldTable = chatFieldTable({
  messages: READ,
  tools: READ,
  tool_choice: READ,
  parallel_tool_calls: READ,
  temperature: sent('temperature', (value) =>
    typeof value === 'number' ? Math.min(1, Math.max(0, value)) : undefined,
  ),
  top_p: sent('top_p', numberOf),
  // For other providers 0 and -1 stand for no limit.
  top_k: sent('top_k', (value) => (Number(value) > 0 ? numberOf(value) : undefined)),
  stop: sent('stop_sequences', stopsOf),
  user: sent('metadata.user_id', textOf),
  safety_identifier: sent('metadata.user_id', (value, { user }) => textOf(user ?? value)),
  thinking: sent('thinking', (value) => (isObject(value) ? value : undefined)),
  response_format: sent('output_config.format', toFormat),
  reasoning_effort: {
    refuses: (value) =>
      value === 'none' || EFFORTS.has(value)
        ? undefined
        : `must be one of none, ${[...EFFORTS.keys()].join(', ')} with this model`,
    sends: [
      { to: 'output_config.effort', value: (wanted) => EFFORTS.get(wanted) },
      {
        to: 'thinking',
        value: (wanted, { thinking }) => (wanted === 'none' && !isObject(thinking) ? { type: 'disabled' } : undefined),
      },
    ],
  },
})

function toFormat(format: unknown): object | undefined {
  const schema = readAnswerSchema(format)?.schema
  return schema && { type: 'json_schema', schema }
}
