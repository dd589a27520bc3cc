import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from '@jest/globals'
import { bundleFunction } from '../../infra/bundle.ts'
import { USAGE_WORDS } from '../../layers/gateway/domain/usage-row.ts'
import { LINE_FIELDS } from '../../operator/admin-api/requests.ts'
import {
  operatorProperties,
  sumProperties,
  TOTAL_TOKENS,
  usageProperties,
  usageRecordSchema,
} from '../../operator/usage-schema.ts'
import { readDocument } from './support/markdown.ts'
import { openApi } from './support/openapi.ts'

type Schema = { required: string[]; properties: Record<string, Schema>; items: Schema }

const admin = (JSON.parse(readDocument('docs/admin-openapi.json')) as typeof openApi).components.schemas
const told = openApi.components.schemas
const inOrder = (schema: unknown) => ({ ...(schema as Schema), required: (schema as Schema).required.toSorted() })

/** All of them are there, as the table says, and are always told. */
function expectProperties(schema: unknown, properties: Readonly<Record<string, unknown>>): void {
  const { required, properties: documented } = schema as Schema
  const names = Object.keys(properties)
  expect(Object.fromEntries(names.map((name) => [name, documented[name]]))).toEqual(properties)
  expect(required).toEqual(expect.arrayContaining(names))
}

test('the usage record of both OpenAPI documents is that of the fields of a row: name, type and description', () => {
  expect(inOrder(told.UsageRecord)).toEqual(inOrder(usageRecordSchema()))
  for (const name of ['UsageRecord', 'Pricing', 'Attempt']) expect(admin[name]).toEqual(told[name])
})

test('docs/admin-openapi.json has the fields of a row in a request, in a line of the list, and in sums', () => {
  expectProperties(admin.Request, operatorProperties())
  expectProperties(admin.RequestLine, { ...usageProperties(LINE_FIELDS), total_tokens: TOTAL_TOKENS })
  const { data, total, groups } = (admin.UsagePage as Schema).properties as Record<string, Schema>
  for (const sums of [data?.items.properties.results?.items, total, groups?.items]) {
    expectProperties(sums, sumProperties())
  }
})

test('the bundle of chat has no words about the fields of a row', () => {
  const code = readFileSync(join(bundleFunction('chat'), 'index.js'), 'utf8')
  expect(code).toContain('cache_write_1h_tokens')
  for (const words of Object.values(USAGE_WORDS)) expect(code).not.toContain(words)
})
