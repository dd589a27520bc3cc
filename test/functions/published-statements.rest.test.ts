import { randomBytes } from 'node:crypto'
import { inspect } from 'node:util'
import { expect, test } from '@jest/globals'
import { HOUR_MS } from '../../layers/gateway/domain/basics/time.ts'
import { updateAccount } from '../../layers/gateway/store/accounts/change-account.ts'
import { actAt } from '../support/act.ts'
import { intercept } from '../support/intercept.ts'
import { customers, NOVEMBER } from './support/customers.ts'

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
