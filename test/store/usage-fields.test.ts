import { expect, test } from '@jest/globals'
import { csvLines, ndjsonLines } from '../../layers/admin/usage/usage-lines.ts'
import { utcDay } from '../../layers/gateway/domain/basics/time.ts'
import { chargesOf } from '../../layers/gateway/domain/rows/charges.ts'
import { DayCounter } from '../../layers/gateway/domain/rows/day-total.ts'
import { EXPORT_COLUMNS, exportLine } from '../../layers/gateway/domain/rows/export-line.ts'
import {
  SUMMED_FIELDS,
  USAGE_FIELD_NAMES,
  USAGE_FIELDS,
  type UsageFieldName,
} from '../../layers/gateway/domain/rows/usage-row.ts'
import { leastRow } from '../../layers/gateway/flow/billing/settle.ts'
import { jsonLog } from '../../layers/gateway/platform/log/log.ts'
import { toDayTotal, toTotalItem } from '../../layers/gateway/store/rows/day-totals.ts'
import { putUsageRow, queryUsageRows, readUsageRow } from '../../layers/gateway/store/rows/usage-rows.ts'
import { recordOf, usageRecord } from '../../layers/gateway/wire/rows/usage-record.ts'
import { FULL_ROW } from '../support/full-row.ts'
import { openTestTables } from '../support/gateway.ts'

async function* once() {
  yield FULL_ROW
}

const apiNames = (names: readonly UsageFieldName[]) => names.map((name) => USAGE_FIELDS[name].api)
const doubled = (value: number | bigint) => (typeof value === 'bigint' ? value * 2n : value * 2)

test('every field of a usage row has a name of its own, and a value of its kind', () => {
  expect(new Set(apiNames(USAGE_FIELD_NAMES)).size).toBe(USAGE_FIELD_NAMES.length)
  for (const name of USAGE_FIELD_NAMES) expect([name, typeof FULL_ROW[name]]).toEqual([name, typeOf(name)])
})

function typeOf(name: UsageFieldName): string {
  const types = {
    text: 'string',
    flag: 'boolean',
    credits: 'bigint',
    price: 'object',
    attempts: 'object',
    tags: 'object',
  } as const
  const { kind } = USAGE_FIELDS[name]
  return kind === 'count' || kind === 'number' || kind === 'moment' ? 'number' : types[kind]
}

test('every field of a usage row is stored and read back', async () => {
  const tables = await openTestTables()
  const { keptUntilMs, ...row } = FULL_ROW
  await putUsageRow(tables, 30)(row)
  expect(await readUsageRow(tables)(row.requestId)).toEqual({
    ...row,
    keptUntilMs: Math.ceil(row.startedAtMs / 1000 + 30 * 86_400) * 1000,
  })
})

test('every field of a usage row is in its record, but for those of operators, and in the lines of an export', async () => {
  const callers = USAGE_FIELD_NAMES.filter((name) => !USAGE_FIELDS[name].operatorOnly)
  const record = usageRecord(FULL_ROW)
  expect(Object.keys(record).toSorted()).toEqual([...apiNames(callers), 'object', 'total_tokens'].toSorted())
  expect(Object.entries(record).filter(([, value]) => value === null)).toEqual([])
  expect(record).toMatchObject(recordOf(callers)(FULL_ROW))
  const [line = ''] = await Array.fromAsync(ndjsonLines(once(), true))
  const told = JSON.parse(line) as object
  expect(told).toMatchObject(recordOf(USAGE_FIELD_NAMES)(FULL_ROW))
  expect(Object.keys(told)).toHaveLength(USAGE_FIELD_NAMES.length + ['object', 'total_tokens', 'margin'].length)
})

test('every field of a usage row is exported in a column of its own type', () => {
  const line = JSON.parse(exportLine(FULL_ROW)) as Record<string, unknown>
  const types: Record<string, string> = { string: 'string', number: 'bigint', boolean: 'boolean' }
  const written = Object.entries(line).map(([name, value]) => ({ name, type: types[typeof value] }))
  expect(written).toEqual(EXPORT_COLUMNS)
  expect(EXPORT_COLUMNS).toHaveLength(USAGE_FIELD_NAMES.length)
  expect(line).toMatchObject({
    contract: 'chat',
    asked_max_tokens: 32_000,
    lowered_max_tokens: 16_000,
    started_at: '2026-11-15T12:30:15.007Z',
    cost_nano: 5_000_000_001,
    upstream_cost_nano: 4_000_000_003,
  })
})

const NAMES = { key_name: 'acme', account_name: 'firm' }

async function* named() {
  for await (const row of once()) yield { ...row, ...NAMES }
}

test('every field of a usage row has a cell in CSV, and a price one for each of its parts', async () => {
  const [header = '', cells = ''] = await Array.fromAsync(csvLines(named(), true))
  const names = header.trimEnd().split(',')
  expect(new Set(names).size).toBe(names.length)
  expect(cells.trimEnd().split(',').filter(Boolean)).toHaveLength(names.length)
  const parts = Object.keys(FULL_ROW.price)
  expect(names).toHaveLength(
    USAGE_FIELD_NAMES.length - 1 + parts.length + ['totalTokens', ...Object.keys(NAMES)].length,
  )
})

test('every summed field is added up in the total of a day, which is stored, and in what is read for sums', async () => {
  const tables = await openTestTables()
  const day = utcDay(FULL_ROW.startedAtMs)
  await putUsageRow(tables)(FULL_ROW)
  await putUsageRow(tables)({ ...FULL_ROW, requestId: 'req_01J00000000000000000000009' })
  const range = { fromMs: FULL_ROW.startedAtMs, toMs: FULL_ROW.startedAtMs + 1 }
  const counter = new DayCounter(FULL_ROW.keyId, day)
  const key = { id: FULL_ROW.keyId, lanes: FULL_ROW.lane + 1 }
  for await (const row of queryUsageRows(tables, 'sums')(key, range)) counter.add(row)
  const total = counter.total()
  expect(total.parts).toEqual([
    {
      model: 'large',
      provider: 'two',
      errors: { upstream_error: 2, refused_without_row: doubled(FULL_ROW.alsoRefused) },
      requests: 2 + 2 * FULL_ROW.alsoRefused,
      calls: 0,
      completed: 0,
      costOfStated: doubled(FULL_ROW.cost),
      withoutCost: 0,
      ...Object.fromEntries(SUMMED_FIELDS.map((name) => [name, doubled(FULL_ROW[name])])),
      ...Object.fromEntries(Object.entries(chargesOf(FULL_ROW)).map(([name, value]) => [name, doubled(value)])),
    },
  ])
  expect(total.rowsUntilMs).toBe(FULL_ROW.keptUntilMs)
  expect(toDayTotal(toTotalItem(total))).toEqual(total)
})

test('every field of a usage row is in the line of the log, but for what callers say about people', () => {
  const lines: string[] = []
  jsonLog((line) => lines.push(line)).request(FULL_ROW)
  const logged = Object.keys(JSON.parse(lines[0] ?? '') as object)
  expect(USAGE_FIELD_NAMES.filter((name) => !logged.includes(name))).toEqual(['user', 'tags'])
})

test('a row that cannot be written whole is written without its texts, but for the model, the account, the lane, the plan, the finish reason and words of a fixed set', () => {
  const least = leastRow(FULL_ROW)
  const texts = USAGE_FIELD_NAMES.filter((name) => USAGE_FIELDS[name].kind === 'text' && USAGE_FIELDS[name].optional)
  const kept = texts.filter((name) => least[name] !== undefined)
  expect([kept, least.lane, least.attempts, least.tags]).toEqual([
    ['contract', 'model', 'estimatedBy', 'upstreamCostSource', 'accountId', 'plan', 'priceFactor', 'finishReason'],
    FULL_ROW.lane,
    [],
    undefined,
  ])
})
