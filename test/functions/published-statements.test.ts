import { randomBytes } from 'node:crypto'
import { expect, test } from '@jest/globals'
import { updateAccount } from '../../layers/gateway/store/accounts/change-account.ts'
import { actAt } from '../support/act.ts'
import { intercept } from '../support/intercept.ts'
import { customers, NOVEMBER } from './support/customers.ts'

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
