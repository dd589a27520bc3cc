import { readdirSync } from 'node:fs'
import { DatabaseSync } from 'node:sqlite'
import { expect, test } from '@jest/globals'
import { DAY_MS, utcDay } from '../../layers/gateway/domain/basics/time.ts'
import { DayCounter } from '../../layers/gateway/domain/rows/day-total.ts'
import { EXPORT_COLUMNS, exportLine } from '../../layers/gateway/domain/rows/export-line.ts'
import { focusLines } from '../../layers/gateway/domain/rows/focus-line.ts'
import type { UsageRow } from '../../layers/gateway/domain/rows/usage-row.ts'
import { Random } from '../simulation/random.ts'
import { randomRows } from '../support/past-usage.ts'
import { blocksOf, ROOT, readDocument } from './support/markdown.ts'

const queryIn = (file: string) => readDocument(`docs/athena/${file}`)
const NOVEMBER_MS = Date.UTC(2026, 10, 1)

const random = new Random(5)
// A month that the queries ask for, and days around it that they do not.
const ROWS = ['key_a', 'key_b', 'key_c'].flatMap((keyId) => randomRows(random, keyId, NOVEMBER_MS - DAY_MS, 32, 60))
const asked = ROWS.filter(({ startedAtMs }) => startedAtMs >= NOVEMBER_MS && startedAtMs < NOVEMBER_MS + 30 * DAY_MS)

/** The exported lines in a table of the columns that Athena is told of. The queries are of the SQL that both know. */
function answersTo(file: string): Record<string, unknown>[] {
  const database = new DatabaseSync(':memory:')
  database.exec("ATTACH ':memory:' AS waybill_prod")
  const columns = [...EXPORT_COLUMNS, { name: 'dt', type: 'string' }]
  const types: Record<string, string> = { string: 'TEXT', bigint: 'INTEGER', boolean: 'INTEGER' }
  database.exec(`CREATE TABLE waybill_prod.usage (${columns.map(({ name, type }) => `${name} ${types[type]}`)}) STRICT`)
  const insert = database.prepare(`INSERT INTO waybill_prod.usage VALUES (${columns.map(() => '?')})`)
  for (const row of ROWS) {
    const line = { ...(JSON.parse(exportLine(row)) as Record<string, unknown>), dt: utcDay(row.startedAtMs) }
    const cells = columns.map(({ name }) => line[name as keyof typeof line] ?? null)
    insert.run(...cells.map((cell) => (typeof cell === 'boolean' ? Number(cell) : (cell as string))))
  }
  const answers = database.prepare(queryIn(file)).all()
  database.close()
  return answers.map((answer) => ({ ...answer }))
}

const credits = (rows: readonly UsageRow[], of: (row: UsageRow) => bigint) =>
  expect.closeTo(Number(rows.reduce((sum, row) => sum + of(row), 0n)) / 1e9, 6)

test('the example queries for Athena are those of docs/operate.md', () => {
  const files = ['spend-by-key.sql', 'spend-by-model.sql', 'margin.sql', 'focus-table.sql']
  expect(readdirSync(`${ROOT}docs/athena`).toSorted()).toEqual(files.toSorted())
  expect(blocksOf('docs/operate.md', 'sql')).toEqual(files.map(queryIn))
})

test('the table of FOCUS has the columns of its lines', () => {
  const counter = new DayCounter('key_a', utcDay(NOVEMBER_MS))
  for (const row of ROWS) counter.add(row)
  const columns = Object.keys(focusLines(counter.total())[0] ?? {}).map((name) => `  ${name.toLowerCase()} string`)
  expect(queryIn('focus-table.sql')).toContain(`waybill_prod.focus (\n${columns.join(',\n')}\n)`)
})

test('the query for spend by key adds up the exported lines of each key', () => {
  const answers = answersTo('spend-by-key.sql')
  expect(answers).toHaveLength(3)
  for (const { key_id, ...answer } of answers) {
    const rows = asked.filter(({ keyId }) => keyId === key_id)
    const tokens = rows.reduce((sum, row) => sum + row.promptTokens + row.completionTokens, 0)
    expect(answer).toEqual({ requests: rows.length, tokens, credits: credits(rows, ({ cost }) => cost) })
  }
})

test('the query for spend by model adds up the exported lines of each model and provider', () => {
  const answers = answersTo('spend-by-model.sql')
  expect(answers.length).toBeGreaterThan(3)
  for (const { model, provider, requests, credits: charged } of answers) {
    const rows = asked.filter((row) => row.model === model && row.provider === provider)
    expect([requests, charged]).toEqual([rows.length, credits(rows, ({ cost }) => cost)])
  }
})

test('the query for the margin leaves out answers that do not say what they cost us', () => {
  const answers = answersTo('margin.sql')
  expect(answers).toHaveLength(2)
  for (const { model, ...answer } of answers) {
    const rows = asked.filter((row) => row.model === model && row.upstreamCost !== undefined)
    expect(answer).toEqual({
      credits: credits(rows, ({ cost }) => cost),
      cost_to_us: credits(rows, ({ upstreamCost = 0n }) => upstreamCost),
      margin: credits(rows, ({ cost, upstreamCost = 0n }) => cost - upstreamCost),
    })
  }
})
