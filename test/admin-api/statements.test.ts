import { expect, test } from '@jest/globals'
import { DAY_MS, HOUR_MS, utcDay } from '../../layers/gateway/domain/basics/time.ts'
import { newAccount } from '../../layers/gateway/domain/keys/account.ts'
import type { Key } from '../../layers/gateway/domain/keys/key.ts'
import { formatCredits, parseSignedCredits } from '../../layers/gateway/domain/money/money.ts'
import type { Statement } from '../../layers/gateway/domain/rows/statement.ts'
import { statementPage } from '../../layers/gateway/domain/rows/statement-page.ts'
import type { UsageRow } from '../../layers/gateway/domain/rows/usage-row.ts'
import {
  adoptKey,
  createAccount,
  grantToAccount,
  grantToKey,
} from '../../layers/gateway/store/accounts/change-account.ts'
import { revokeKey } from '../../layers/gateway/store/keys/rotate-key.ts'
import { Random } from '../simulation/random.ts'
import { actAt } from '../support/act.ts'
import { openTestTables } from '../support/gateway.ts'
import { intercept } from '../support/intercept.ts'
import { closerAt, randomRows, usedKey } from '../support/past-usage.ts'
import { someTimes } from '../support/some-of.ts'
import { adminOf, once } from './support/admin.ts'

const MONTHS = ['2026-08', '2026-09', '2026-10']
const FIRST_MS = Date.parse(`${MONTHS[0]}-01`)
const END_MS = Date.parse('2026-11-01')
const CLOSED_MS = END_MS + 8 * HOUR_MS
const DAYS = (END_MS - FIRST_MS) / DAY_MS

const nano = (credits: string) => parseSignedCredits(credits) ?? 0n
const costOf = (rows: readonly UsageRow[]) => rows.reduce((sum, { cost }) => sum + cost, 0n)
const inMonth = (month: string) => (row: UsageRow) => utcDay(row.startedAtMs).startsWith(month)

function expectSum({ opening, topped_up, adopted, corrected, charged, closing, ...lines }: Statement) {
  expect(nano(opening) + nano(topped_up) + nano(adopted) + nano(corrected) - nano(charged)).toBe(nano(closing))
  const sum = (all: readonly { readonly credits: string }[]) => all.reduce((so, { credits }) => so + nano(credits), 0n)
  expect(sum(lines.top_ups)).toBe(nano(topped_up))
  expect(sum(lines.adoptions)).toBe(nano(adopted))
  expect(sum(lines.corrections)).toBe(nano(corrected))
  expect(lines.usage.reduce((so, line) => so + nano(line.charged), 0n)).toBe(nano(charged))
}

/** An account with keys that were adopted in any month, one of them revoked since, with grants and corrections at any time. */
async function customerOf(random: Random) {
  const tables = await openTestTables()
  const at = () => FIRST_MS + random.below(DAYS * DAY_MS)
  const account = newAccount({ name: 'Ann & Co' }, 0n, FIRST_MS - DAY_MS, random.bytes(10))
  await createAccount(tables)(account, actAt(FIRST_MS - DAY_MS))
  const used: { key: Key; rows: UsageRow[] }[] = []
  for (const count of [30, 20, 10]) {
    const rows = (id: string) => randomRows(random, id, FIRST_MS, DAYS, count)
    used.push(await usedKey(tables, FIRST_MS - 2 * DAY_MS, rows))
  }
  const joinedMs = used.map(at)
  for (const [i, { key }] of used.entries()) {
    await grantToKey(tables)(key.id, 7n, actAt(FIRST_MS + random.below(DAY_MS)))
    expect(await adoptKey(tables)(key.id, account.id, actAt(joinedMs[i]))).toMatchObject({ changed: true })
  }
  for (let i = 0; i < 12; i++) {
    const credits = BigInt(random.below(10 ** 12)) * (random.chance(0.3) ? -1n : 1n) || 1n
    const reference = { text: `invoice ${i}`, isAgain: true }
    expect(await grantToAccount(tables)(account.id, credits, actAt(at()), undefined, reference)).toMatchObject({
      changed: true,
    })
  }
  await revokeKey(tables)(used[1]?.key.id ?? '', actAt(END_MS - 1))
  const admin = adminOf(tables, { clock: () => CLOSED_MS, seller: 'Waybill Ltd', currency: 'USD 2' })
  const ask = (month: string, path = `/accounts/${account.id}`) =>
    admin.call<Statement>(`GET ${path}/statements/${month}`)
  return { tables, account, used, joinedMs, admin, ask }
}

test('statements add up to the nanocredit, follow each other, have exactly the rows, and end with the balance in the books', async () => {
  for (let seed = 1; seed <= someTimes(1, 40); seed++) {
    const { tables, account, used, joinedMs, admin, ask } = await customerOf(new Random(seed))
    await closerAt(tables, () => CLOSED_MS).run()
    let balance = 0n
    for (const month of MONTHS) {
      const { status, body, text } = await ask(month)
      expect([seed, month, status, nano(body.opening)]).toEqual([seed, month, 200, balance])
      expectSum(body)
      const there = used.filter((_, i) => utcDay(joinedMs[i] as number).slice(0, 7) <= month)
      expect(nano(body.charged)).toBe(costOf(there.flatMap(({ rows }) => rows.filter(inMonth(month)))))
      expect((await ask(month)).text).toBe(text)
      balance = nano(body.closing)
    }
    const { available } = (await admin.call(`GET /accounts/${account.id}`)).body
    expect([seed, formatCredits(balance)]).toEqual([seed, available])
  }
})

test('a grant that was asked for in a month and is made after its closing belongs to the month in which it is made', async () => {
  const { tables, account, ask } = await customerOf(new Random(78))
  let nowMs = END_MS - 1
  const admin = adminOf(tables, { clock: () => nowMs })
  const grant = { body: { credits: '5', reference: 'late' }, headers: once() }
  const asked = () => admin.call(`POST /accounts/${account.id}/grants`, grant)
  const restore = intercept(tables, async (send, operation) => {
    if (operation === 'TransactWriteItems') throw new Error('killed')
    return send()
  })
  expect((await asked()).status).toBe(500)
  restore()
  await closerAt(tables, () => CLOSED_MS).run()
  const before = (await ask('2026-10')).text
  nowMs = CLOSED_MS
  const made = await asked()
  expect([made.status, made.body.granted_at, made.body.replayed]).toEqual([
    201,
    new Date(CLOSED_MS).toISOString(),
    false,
  ])
  nowMs += DAY_MS
  expect((await asked()).body).toMatchObject({ granted_at: made.body.granted_at, replayed: true })
  expect((await ask('2026-10')).text).toBe(before)
})

test('a key that is adopted later changes no statement that was made before', async () => {
  const { tables, ask, account } = await customerOf(new Random(77))
  await closerAt(tables, () => CLOSED_MS).run()
  const before = (await ask('2026-09')).text
  const { key } = await usedKey(tables, FIRST_MS, () => [])
  await adoptKey(tables)(key.id, account.id, actAt(END_MS - 1))
  expect((await ask('2026-09')).text).toBe(before)
  expect((await ask('2026-10')).body.adoptions).toContainEqual(expect.objectContaining({ key_id: key.id }))
})

test('the statement of a key that is alone ends with its balance; one of an account refers to that', async () => {
  const { tables, used, admin, ask } = await customerOf(new Random(5))
  const { key } = await usedKey(tables, FIRST_MS, (id) => randomRows(new Random(6), id, FIRST_MS, DAYS, 20))
  await closerAt(tables, () => CLOSED_MS).run()
  const { body } = await ask('2026-10', `/keys/${key.id}`)
  expectSum(body)
  expect(body).toMatchObject({ key_id: key.id, account_id: null, seller: 'Waybill Ltd' })
  expect(body.closing).toBe((await admin.call(`GET /keys/${key.id}`)).body.available)
  const ofAccount = await ask('2026-10', `/keys/${used[0]?.key.id}`)
  const how =
    "is one of the account 'Ann & Co', whose statements have its charges: waybill statement --account 'Ann & Co'"
  expect([ofAccount.status, ofAccount.text]).toEqual([400, expect.stringContaining(how)])
})

test('a month with an open day is refused, as is what is no month, and a caller without both scopes', async () => {
  const { tables, account, ask, admin } = await customerOf(new Random(9))
  const none = await ask('2026-07')
  expect([none.status, none.text]).toEqual([400, expect.stringContaining('2026-07-01 is not')])
  await closerAt(tables, () => Date.parse('2026-10-20')).run()
  const open = await ask('2026-10')
  expect([open.status, open.text]).toEqual([400, expect.stringContaining('2026-10-19 is not')])
  expect((await ask('2026-09')).status).toBe(200)
  expect([(await ask('2026-13')).status, (await ask('october')).status]).toEqual([400, 400])
  for (const scope of ['keys.read', 'usage.read'] as const) {
    const told = await admin.call(`GET /accounts/${account.id}/statements/2026-09`, { scopes: [scope] })
    expect([scope, told.status]).toEqual([scope, 403])
  }
})

test('the page shows amounts in the digits of the currency, the exact one behind what is rounded, and runs nothing', async () => {
  const { tables, ask } = await customerOf(new Random(3))
  await closerAt(tables, () => CLOSED_MS).run()
  const { body } = await ask('2026-10')
  const page = statementPage({ ...body, opening: '-12.345678901', closing: '7.5', seller: '<b>Us</b>' })
  expect(page).toContain('<td>-12.35 (-12.345678901)</td>')
  expect(page).toContain('<td>7.50</td>')
  expect(page).toContain('&lt;b&gt;Us&lt;/b&gt;')
  expect(page).toContain('Ann &amp; Co')
  expect(page).not.toMatch(/<script|<b>|src=|href=|url\(/)
})
