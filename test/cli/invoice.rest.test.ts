import { beforeEach, expect, test } from '@jest/globals'
import type { Invoices } from '../../cli/books/invoices.ts'
import { DAY_MS, utcDay } from '../../layers/gateway/domain/basics/time.ts'
import { newAccount } from '../../layers/gateway/domain/keys/account.ts'
import type { Key } from '../../layers/gateway/domain/keys/key.ts'
import { formatCredits } from '../../layers/gateway/domain/money/money.ts'
import type { DayTotal } from '../../layers/gateway/domain/rows/day-total.ts'
import type { UsageRow } from '../../layers/gateway/domain/rows/usage-row.ts'
import { adoptKey, createAccount } from '../../layers/gateway/store/accounts/change-account.ts'
import type { Tables } from '../../layers/gateway/store/dynamodb/database.ts'
import { keyItem } from '../../layers/gateway/store/keys/key-item.ts'
import { revokeKey } from '../../layers/gateway/store/keys/rotate-key.ts'
import { updateKey } from '../../layers/gateway/store/keys/update-key.ts'
import { readDayTotal, toTotalItem, totalKey } from '../../layers/gateway/store/rows/day-totals.ts'
import { rowKey } from '../../layers/gateway/store/rows/usage-item.ts'
import { Random } from '../simulation/random.ts'
import { actAt } from '../support/act.ts'
import { completedRow } from '../support/completed-row.ts'
import { openTestTables } from '../support/gateway.ts'
import { closerAt, randomRow, randomRows, usedKey } from '../support/past-usage.ts'
import { requestIdAt } from '../support/request-id.ts'
import { openStage } from '../support/stack.ts'
import type { Stage } from '../support/stage.ts'

/** The month before this one, of which no row can have expired. */
const THIS_MONTH_MS = Date.parse(`${utcDay(Date.now()).slice(0, 7)}-01`)
const MONTH = utcDay(THIS_MONTH_MS - 1).slice(0, 7)
const FIRST_MS = Date.parse(`${MONTH}-01`)
const DAYS = (THIS_MONTH_MS - FIRST_MS) / DAY_MS
const NAME = '=<b>Ann & "Co"</b>'

let tables: Tables
let stage: Stage
let customers: { key: Key; rows: UsageRow[] }[]

/** Three customers, of whom one is revoked, with rows also in the months around. */
beforeEach(async () => {
  tables = await openTestTables()
  stage = await openStage(tables)
  const random = new Random(7)
  customers = []
  for (const count of [60, 40, 20]) {
    const rows = (id: string) => randomRows(random, id, FIRST_MS - 2 * DAY_MS, DAYS + 4, count)
    customers.push(await usedKey(tables, FIRST_MS - 3 * DAY_MS, rows))
  }
  await updateKey(tables)(keyAt(0).id, { name: NAME, externalId: 'cus_1' }, actAt())
  await revokeKey(tables)(keyAt(1).id, actAt())
})

const keyAt = (i: number) => (customers[i] as { key: Key }).key
const closeAt = (days: number) => closerAt(tables, () => FIRST_MS + days * DAY_MS + DAY_MS / 2).run()
const invoice = (...args: string[]) => stage.waybill(['invoice', '--month', MONTH, ...args, '--stage', 'dev'])
async function invoices(...args: string[]) {
  const { code, stdout, stderr } = await invoice('--format', 'json', ...args)
  return { code, stderr, printed: JSON.parse(stdout) as Invoices }
}
const remove = (TableName: string, Key: Record<string, unknown>) => tables.database.delete({ TableName, Key })
const inMonth = ({ startedAtMs }: UsageRow) => startedAtMs >= FIRST_MS && startedAtMs < THIS_MONTH_MS

const costOf = (rows: readonly UsageRow[]) => formatCredits(rows.reduce((sum, { cost }) => sum + cost, 0n))

/** The lines as they follow from rows, without the code that makes invoices. */
function expectedLines(rows: readonly UsageRow[]) {
  const models = [...new Set(rows.flatMap(({ model }) => model ?? []))].sort()
  return models.map((model) => {
    const own = rows.filter((row) => row.model === model)
    const sum = (of: (row: UsageRow) => number) => own.reduce((all, row) => all + of(row), 0)
    return {
      model,
      requests: own.length,
      prompt_tokens: sum(({ promptTokens }) => promptTokens),
      completion_tokens: sum(({ completionTokens }) => completionTokens),
      charged: costOf(own),
    }
  })
}

test('the invoices of a closed month have every customer, also a revoked one, and exactly the charges of its rows', async () => {
  await closeAt(DAYS)
  const { code, stderr, printed } = await invoices()
  expect([code, stderr, printed.problems, printed.closed_through]).toEqual([0, '', [], utcDay(THIS_MONTH_MS - 1)])
  expect(printed.data.map(({ key_id }) => key_id).sort()).toEqual(customers.map(({ key }) => key.id).sort())
  for (const { key, rows } of customers) {
    const invoice = printed.data.find(({ key_id }) => key_id === key.id)
    expect(invoice?.lines.toSorted((a, b) => (a.model < b.model ? -1 : 1))).toEqual(expectedLines(rows.filter(inMonth)))
  }
  expect(printed.total.charged).toBe(costOf(customers.flatMap(({ rows }) => rows.filter(inMonth))))
  expect(printed.data.find(({ key_id }) => key_id === keyAt(0).id)).toMatchObject({ name: NAME, external_id: 'cus_1' })
  expect((await invoices('--key', 'cus_1')).printed.data.map(({ key_id }) => key_id)).toEqual([keyAt(0).id])
})

test('no form of an invoice has a provider or its cost; CSV runs no formula, and a page nothing at all', async () => {
  await closeAt(DAYS)
  const forms = await Promise.all(['csv', 'json', 'html'].map((format) => invoice('--format', format)))
  for (const { code, stdout } of forms) {
    expect(code).toBe(0)
    expect(stdout).not.toMatch(/upstream|provider|margin|\bone\b|\btwo\b|\bthree\b/i)
  }
  const [csv, , html] = forms.map(({ stdout }) => stdout) as [string, string, string]
  expect(csv).toContain(`${MONTH},${keyAt(0).id},"'=<b>Ann & ""Co""</b>",cus_1,large,`)
  expect(csv.trimEnd().split('\n')).toHaveLength(1 + 3 * 2)
  expect(html).toMatch(/^<!doctype html>/)
  expect(html).toContain('=&lt;b&gt;Ann &amp; &quot;Co&quot;&lt;/b&gt;')
  expect(html).toContain("default-src 'none'")
  expect(html).not.toMatch(/<script|<b>|src=|href=|url\(|@import/)
  expect(html.match(/<section>/g)).toHaveLength(3)
})

test('the keys of an account are on one invoice, with a line for each key and model', async () => {
  const account = newAccount({ name: 'Ann', externalId: 'cus_ann' }, 0n, FIRST_MS, new Uint8Array(10))
  await createAccount(tables)(account, actAt())
  for (const i of [0, 2])
    expect(await adoptKey(tables)(keyAt(i).id, account.id, actAt(FIRST_MS))).toMatchObject({ changed: true })
  await closeAt(DAYS)
  const rows = [0, 2].flatMap((i) => customers[i]?.rows.filter(inMonth) ?? [])
  for (const args of [[], ['--account', 'cus_ann']]) {
    const { code, printed } = await invoices(...args)
    expect([code, printed.data.length]).toEqual([0, args.length === 0 ? 2 : 1])
    const [invoice] = printed.data.filter(({ account_id }) => account_id === account.id)
    expect(invoice).toMatchObject({
      name: 'Ann',
      external_id: 'cus_ann',
      key_id: null,
      total: { charged: costOf(rows) },
    })
    expect(invoice?.lines).toHaveLength(2 * 2)
    expect(new Set(invoice?.lines.map(({ key_id }) => key_id))).toEqual(new Set([keyAt(0).id, keyAt(2).id]))
  }
  expect((await invoice()).stdout).toContain(`${MONTH},${keyAt(2).id},Ann,cus_ann,`)
  expect((await invoice('--format', 'html')).stdout.match(/<section>/g)).toHaveLength(2)
})

test('a model whose requests were all refused is in it only if it is asked for, and calls that ask no model never are', async () => {
  const REFUSED = { outcome: 'refused', cost: 0n, usageSource: 'none', errorCode: 'insufficient_scope' } as const
  const plain = { promptTokens: 0, completionTokens: 0, cachedTokens: 0, provider: undefined, upstreamCost: undefined }
  const random = new Random(8)
  const { key } = await usedKey(tables, FIRST_MS, (id) => [
    { ...randomRow(random, id, FIRST_MS + 1), ...REFUSED, ...plain, model: 'never' },
    { ...randomRow(random, id, FIRST_MS + 2), ...REFUSED, ...plain, model: 'polled', endpoint: 'quote' },
    completedRow({ requestId: requestIdAt(FIRST_MS + 3), keyId: id, startedAtMs: FIRST_MS + 3, cost: 3n, hold: 5n }),
  ])
  await closeAt(DAYS)
  const modelsOf = async (...args: string[]) => {
    const { code, stderr, printed } = await invoices('--key', key.id, ...args)
    expect([code, stderr]).toEqual([0, ''])
    return printed.data.flatMap(({ lines }) => lines.map(({ model, requests }) => `${model} ${requests}`)).sort()
  }
  expect([await modelsOf(), await modelsOf('--all')]).toEqual([['- 1'], ['- 1', 'never 1']])
})

test('days that are not closed are said, are not in it, and make it fail', async () => {
  await closeAt(10)
  const closedMs = FIRST_MS + 10 * DAY_MS
  const { code, stderr, printed } = await invoices()
  expect([code, printed.closed_through]).toEqual([1, utcDay(closedMs - 1)])
  expect(stderr).toContain(
    `Not closed yet, and not in the invoices of ${MONTH}: ${utcDay(closedMs)} to ${utcDay(THIS_MONTH_MS - 1)}`,
  )
  const rows = customers.flatMap((customer) => customer.rows.filter(inMonth))
  expect(printed.total.charged).toBe(costOf(rows.filter(({ startedAtMs }) => startedAtMs < closedMs)))
  expect((await invoice('--format', 'html')).stdout).toContain('Do not send these')
  const never = await stage.waybill(['invoice', '--month', '2099-01', '--format', 'json', '--stage', 'dev'])
  expect([never.code, JSON.parse(never.stdout)]).toMatchObject([1, { closed_through: null, data: [] }])
})

/** A row of the first customer in the month that has a charge, and the total of its day. */
const someRow = () => customers[0]?.rows.find((row) => inMonth(row) && row.cost > 0n) as UsageRow
const someTotal = ({ keyId, startedAtMs } = someRow()) =>
  readDayTotal(tables)(keyId, utcDay(startedAtMs)) as Promise<DayTotal>

test.each<[string, () => Promise<unknown>]>([
  [
    'a total of a day that was changed',
    async () => {
      const { parts, ...total } = await someTotal()
      const last = parts.at(-1) as DayTotal['parts'][number]
      const Item = toTotalItem({ ...total, parts: [...parts.slice(0, -1), { ...last, cost: last.cost + 1n }] })
      return tables.database.put({ TableName: tables.usage, Item })
    },
  ],
  [
    'a total of a day that is gone',
    async () => {
      const { keyId, day } = await someTotal()
      return remove(tables.usage, totalKey(keyId, day))
    },
  ],
  [
    'a row that costs a nanocredit more',
    () => {
      const Key = rowKey(someRow().requestId)
      const change = { UpdateExpression: 'SET cost = cost + :one', ExpressionAttributeValues: { ':one': 1n } }
      return tables.database.update({ TableName: tables.usage, Key, ...change })
    },
  ],
  ['a row that is gone', () => remove(tables.usage, rowKey(someRow().requestId))],
])('%s is a difference in the books, which is said and makes it fail', async (_, tamper) => {
  await closeAt(DAYS)
  expect((await invoices()).code).toBe(0)
  await tamper()
  const { code, stderr, printed } = await invoices()
  expect([code, printed.problems.length > 0]).toEqual([1, true])
  expect(stderr).toContain(`${keyAt(0).id} (`)
  expect(stderr).toMatch(/the totals of days have .* credits|the totals of days have nothing/)
})

test('a key whose item is gone is in it all the same, by its rows and its id', async () => {
  await closeAt(DAYS)
  const { id } = keyAt(2)
  await remove(tables.keys, keyItem(id))
  for (const args of [[], ['--key', id]]) {
    const { code, printed } = await invoices(...args)
    const invoice = printed.data.find(({ key_id }) => key_id === id)
    expect([code, invoice?.name, printed.problems]).toEqual([0, null, []])
    expect(invoice?.total.charged).toBe(costOf(customers[2]?.rows.filter(inMonth) ?? []))
  }
})

test.each(['2026-13', '2026-1', '2026-10-01', 'last', '../10', ''])('the month %j is refused', async (month) => {
  const { code, stderr } = await stage.waybill(['invoice', '--month', month, '--stage', 'dev'])
  expect([code === 0, stderr]).toEqual([false, expect.stringContaining('a month such as 2026-10')])
})
