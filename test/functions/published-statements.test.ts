import { randomBytes } from 'node:crypto'
import { inspect } from 'node:util'
import { expect, test } from '@jest/globals'
import { HOUR_MS } from '../../layers/gateway/domain/basics/time.ts'
import type { Account } from '../../layers/gateway/domain/keys/account.ts'
import type { Statement } from '../../layers/gateway/domain/rows/statement.ts'
import { updateAccount } from '../../layers/gateway/store/accounts/change-account.ts'
import { adminOf } from '../admin-api/support/admin.ts'
import { actAt } from '../support/act.ts'
import { intercept } from '../support/intercept.ts'
import { closerAt } from '../support/past-usage.ts'
import { openAccounts } from './support/accounts.ts'

const OCTOBER = Date.UTC(2026, 9, 20, 12)
const NOVEMBER = Date.UTC(2026, 10, 1, 8)
const SELLER = { seller: 'Waybill Ltd', currency: 'USD 2' }

/** Customers who were charged in October, of which two let their keys read their statements, and the day after it. */
async function customers() {
  const stand = await openAccounts()
  const { time, gateway, tables, open, spend } = stand
  time.nowMs = OCTOBER
  const acme = await open({ name: 'Acme & Co', showsStatements: true })
  const globex = await open({ name: 'Globex', showsStatements: true })
  const hidden = await open({ name: 'Hidden' })
  const alone = await gateway.issue()
  await spend(acme.a, 3)
  await spend(acme.b, 1)
  for (const secret of [globex.a, hidden.a, alone.secret]) await spend(secret, 1)
  time.nowMs = NOVEMBER
  const close = (nowMs = NOVEMBER) => closerAt(tables, () => nowMs, SELLER).run()
  const read = async (secret: string, month = '2026-10') => {
    const response = await gateway.get(secret, `/v1/statements/${month}`)
    return { status: response.status, text: await response.text() }
  }
  const admin = adminOf(tables, { clock: () => NOVEMBER, ...SELLER })
  const ofAdmin = async ({ id }: Account, month = '2026-10') =>
    (await admin.call<Statement>(`GET /accounts/${id}/statements/${month}`)).body
  return { ...stand, acme, globex, hidden, alone, close, read, ofAdmin }
}

test('each key of an account reads the statement that the operator sees, and never that of another', async () => {
  const { acme, globex, close, read, ofAdmin, gateway } = await customers()
  expect((await read(acme.a)).status).toBe(404)
  await close()
  const own = await ofAdmin(acme.account)
  expect([own.charged, own.closing, own.seller]).toEqual(['4', '6', 'Waybill Ltd'])
  for (const secret of [acme.a, acme.b]) expect(JSON.parse((await read(secret)).text)).toEqual(own)
  expect(JSON.parse((await read(globex.a)).text)).toEqual(await ofAdmin(globex.account))
  const headers = { Authorization: `Bearer ${acme.a}`, Accept: 'text/html' }
  const page = await fetch(`${gateway.baseUrl}/v1/statements/2026-10`, { headers })
  expect(page.headers.get('content-type')).toBe('text/html; charset=utf-8')
  expect(await page.text()).toMatch(/Acme &amp; Co.*Closing balance.*6\.00/s)
})

test('what is not shown is refused, as is what is no month or has not ended', async () => {
  const { acme, hidden, alone, close, read, gateway } = await customers()
  await close()
  const told = await Promise.all([
    ...[hidden.a, alone.secret].map((secret) => read(secret)),
    ...['2026-11', '2026-09', '2026-13', 'last-month'].map((month) => read(acme.a, month)),
  ])
  expect(told.map(({ status }) => status)).toEqual([403, 403, 404, 404, 400, 400])
  expect(told[0]?.text).toContain('does not show the statements')
  expect(told[5]?.text).toContain("not of 'last-month'")
  const introspected = await gateway.get(hidden.a, '/v1/key/introspect')
  expect(await introspected.json()).toMatchObject({ account: { shows_statements: false } })
})

test('a caller has a statement read, and never made: no item but the hash, the key, the account and the statement', async () => {
  const { acme, close, read, tables } = await customers()
  await close()
  await read(acme.a)
  const operations: string[] = []
  const restore = intercept(tables, (send, operation) => {
    operations.push(operation)
    return send()
  })
  for (const month of ['2026-10', '2026-09']) await read(acme.a, month)
  restore()
  expect(new Set(operations)).toEqual(new Set(['GetItem', 'UpdateItem', 'PutItem']))
  expect(operations.filter((operation) => operation === 'GetItem').length).toBeLessThanOrEqual(8)
})

test('a run that dies anywhere is made good by the next, and a statement stays as it was published', async () => {
  for (let dead = 0, hasDied = true; hasDied; dead++) {
    const { acme, close, read, tables, ofAdmin } = await customers()
    let calls = 0
    const restore = intercept(tables, (send, _, input) => {
      if (inspect(input).includes('STATEMENTS#')) calls += 1
      if (calls > dead) throw new Error('killed')
      return send()
    })
    await close().catch(() => {})
    restore()
    hasDied = calls > dead
    await close(NOVEMBER + HOUR_MS)
    const { text, status } = await read(acme.a)
    expect([dead, status, JSON.parse(text)]).toEqual([dead, 200, await ofAdmin(acme.account)])
    if (hasDied) continue
    expect(dead).toBeGreaterThan(3)
    await updateAccount(tables, randomBytes)(acme.account.id, { name: 'Acme 2' }, actAt(NOVEMBER + HOUR_MS))
    await close(NOVEMBER + 24 * HOUR_MS)
    expect((await read(acme.a)).text).toBe(text)
  }
})

test('an account that shows its statements later has those of a year, and none from before it was made', async () => {
  const { hidden, close, read, tables, time } = await customers()
  await close()
  await updateAccount(tables, randomBytes)(hidden.account.id, { showsStatements: true }, actAt(NOVEMBER))
  time.nowMs = Date.UTC(2027, 0, 2, 8)
  expect((await read(hidden.a)).status).toBe(404)
  await close(time.nowMs)
  const months = ['2026-09', '2026-10', '2026-11', '2026-12', '2027-01']
  const statuses = await Promise.all(months.map((month) => read(hidden.a, month)))
  expect(statuses.map(({ status }) => status)).toEqual([404, 200, 200, 200, 404])
})
