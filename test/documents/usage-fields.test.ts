import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from '@jest/globals'
import { bundleFunction } from '../../infra/functions/bundle.ts'
import { LINE_FIELDS } from '../../layers/admin/api/shapes/queries.ts'
import {
  CALLER_FIELDS,
  OPERATOR_FIELDS,
  SUMMED_FIELDS,
  USAGE_FIELDS,
  USAGE_WORDS,
  type UsageFieldName,
} from '../../layers/gateway/domain/rows/usage-row.ts'
import { readDocument } from './support/markdown.ts'
import type { openApi } from './support/openapi.ts'

type Schema = { required: string[]; properties: Record<string, Schema>; items: Schema }

const admin = (JSON.parse(readDocument('docs/admin-openapi.json')) as typeof openApi).components.schemas

/** All of them are there and are always told. */
function expectFields(schema: unknown, fields: readonly UsageFieldName[]): void {
  const { required } = schema as Schema
  expect(required).toEqual(expect.arrayContaining(fields.map((field) => USAGE_FIELDS[field].api)))
}

test('docs/admin-openapi.json has the fields of a row in a request, in a line of the list, and in sums', () => {
  expectFields(admin.UsageRecord, CALLER_FIELDS)
  expectFields(admin.Request, OPERATOR_FIELDS)
  expectFields(admin.RequestLine, LINE_FIELDS)
  const { data, total, groups } = (admin.UsagePage as Schema).properties as Record<string, Schema>
  for (const sums of [data?.items.properties.results?.items, total, groups?.items]) expectFields(sums, SUMMED_FIELDS)
})

test('the bundle of chat has no words about the fields of a row', () => {
  const code = readFileSync(join(bundleFunction('chat'), 'index.js'), 'utf8')
  expect(code).toContain('cache_write_1h_tokens')
  for (const words of Object.values(USAGE_WORDS)) expect(code).not.toContain(words)
})
