import { expect, test } from '@jest/globals'
import { ANTHROPIC_FIELDS } from '../../layers/gateway/providers/anthropic/anthropic-fields.ts'
import { BEDROCK_FIELDS } from '../../layers/gateway/providers/bedrock/bedrock-fields.ts'
import { type FieldTable, toFields } from '../../layers/gateway/providers/conversation/field-table.ts'
import type { ChatCall } from '../../layers/gateway/providers/provider.ts'
import { RESPONSES_FIELDS } from '../../layers/gateway/providers/responses/responses-fields.ts'
import { ALIASED, PASSED } from './support/field-samples.ts'

const SAMPLES: Readonly<Record<string, unknown>> = {
  ...PASSED,
  ...ALIASED,
  messages: [{ role: 'user', content: 'Hello' }],
  response_format: { type: 'json_schema', json_schema: { name: 'a', schema: { type: 'object' } } },
}

const call = { dropsUnknown: false } as ChatCall

const sentFields = (table: FieldTable) =>
  [...table].flatMap(([name, { sends = [] }]) => (sends.length > 0 ? [{ name, sends }] : []))

test.each<[string, FieldTable]>([
  ['anthropic', ANTHROPIC_FIELDS],
  ['bedrock', BEDROCK_FIELDS],
  ['responses', RESPONSES_FIELDS],
])('each field that %s says it sends is in the request under the name that the table gives', (_, table) => {
  const fields = sentFields(table)
  expect(fields.length).toBeGreaterThan(3)
  for (const { name, sends } of fields) {
    const outer = sends.map(({ to }) => to.split('.')[0])
    const written = Object.keys(toFields(table, { [name]: SAMPLES[name] }, call))
    expect([name, outer]).toEqual([name, expect.arrayContaining(written)])
    expect([name, written]).not.toEqual([name, []])
  }
})
