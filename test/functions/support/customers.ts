import type { Account } from '../../../layers/gateway/domain/keys/account.ts'
import type { Statement } from '../../../layers/gateway/domain/rows/statement.ts'
import { adminOf } from '../../admin-api/support/admin.ts'
import { closerAt } from '../../support/past-usage.ts'
import { openAccounts } from './accounts.ts'

const OCTOBER = Date.UTC(2026, 9, 20, 12)
export const NOVEMBER = Date.UTC(2026, 10, 1, 8)
const SELLER = { seller: 'Waybill Ltd', currency: 'USD 2' }

/** Customers who were charged in October, of which two let their keys read their statements, and the day after it. */
export async function customers() {
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
