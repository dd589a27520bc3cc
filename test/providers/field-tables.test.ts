import { expect, test } from '@jest/globals'
import type { ProviderEntry } from '../../layers/gateway/domain/routing/catalog.ts'
import { ANTHROPIC_FIELDS } from '../../layers/gateway/providers/anthropic/anthropic-request.ts'
import { BEDROCK_FIELDS } from '../../layers/gateway/providers/bedrock/bedrock-request.ts'
import { type FieldTable, toFields } from '../../layers/gateway/providers/conversation/field-table.ts'
import type { ChatCall } from '../../layers/gateway/providers/provider.ts'
import { RESPONSES_FIELDS } from '../../layers/gateway/providers/responses/responses-request.ts'
import { ALIASED, PASSED } from './support/field-samples.ts'

const SAMPLES: Readonly<Record<string, unknown>> = {
  prompt_cache_options: { mode: 'explicit' },
  moderation: { model: 'omni-moderation-latest' },
  cache_control: { type: 'ephemeral' },
  ...PASSED,
  ...ALIASED,
  messages: [{ role: 'user', content: 'Hello' }],
  response_format: { type: 'json_schema', json_schema: { name: 'a', schema: { type: 'object' } } },
}

const call = { dropsUnknown: false } as ChatCall

const sentFields = (table: FieldTable) =>
  [...table].flatMap(([name, { sends = [] }]) => (sends.length > 0 ? [{ name, sends }] : []))

/** OpenAI's own dialect passes fields on, and has no table. */
const TABLES: Readonly<Record<Exclude<ProviderEntry['type'], 'openai'> | 'responses', FieldTable>> = {
  anthropic: ANTHROPIC_FIELDS,
  bedrock: BEDROCK_FIELDS,
  responses: RESPONSES_FIELDS,
}

test.each(Object.entries(TABLES))(
  'each field that %s says it sends is in the request under the name that the table gives',
  (_, table) => {
    const fields = sentFields(table)
    expect(fields.length).toBeGreaterThan(0)
    for (const { name, sends } of fields) {
      const outer = sends.map(({ to }) => to.split('.')[0])
      const written = Object.keys(toFields(table, { [name]: SAMPLES[name] }, call))
      expect([name, outer]).toEqual([name, expect.arrayContaining(written)])
      expect([name, written]).not.toEqual([name, []])
    }
  },
)
