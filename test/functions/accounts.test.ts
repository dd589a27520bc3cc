import { randomBytes } from 'node:crypto'
import { describe, expect, test } from '@jest/globals'
import { type Account, joining } from '../../layers/gateway/domain/keys/account.ts'
import { adoptKey, grantToAccount, setAccountStatus } from '../../layers/gateway/store/accounts/change-account.ts'
import { takeAdmission } from '../../layers/gateway/store/admission/take-admission.ts'
import { suspendKey } from '../../layers/gateway/store/keys/suspend-key.ts'
import { actAt } from '../support/act.ts'
import { demandOf } from '../support/demand.ts'
import { requestIdAt } from '../support/request-id.ts'
import { holdAnswers, say } from '../support/upstream.ts'
import { until } from '../support/wait.ts'
import { credits, LOOSE, openAccounts } from './support/accounts.ts'

const stand = await openAccounts()
const {
  time,
  upstream,
  gateway,
  other,
  tables,
  open,
  statusOf,
  spend,
  balanceOf,
  purseOf,
  readAccount,
  sweep,
  draw,
  takeIn,
} = stand

async function callsOf(secret: string): Promise<(string | number)[]> {
  gateway.calls.length = 0
  const status = await statusOf(secret)
  return [status, ...gateway.calls.map(({ name }) => name)]
}

describe('one balance', () => {
  test('200 requests that race over 8 keys of an account with credit for ten: ten are answered, 190 refused', async () => {
    const { account, issued } = await open({ keys: 8 })
    const statuses = await Promise.all(
      Array.from({ length: 200 }, (_, i) => statusOf(issued[i % 8]?.secret ?? '', i % 2 ? gateway : other)),
    )
    expect(statuses.toSorted()).toEqual([...Array(10).fill(200), ...Array(190).fill(402)])
    expect(await balanceOf(account)).toEqual({ granted: credits('10'), available: 0n, held: 0n, spent: credits('10') })
  })

  test('a request whose purse has money makes one call before the upstream and three writes in all', async () => {
    const { a, idA } = await open()
    await spend(a, 1)
    expect((await purseOf(idA)).available).toBeGreaterThanOrEqual(credits('1'))
    let before: string[] = []
    upstream.reply = (response, request) => {
      before = gateway.calls.map(({ name }) => name)
      return say('Hello')(response, request)
    }
    expect(await callsOf(a)).toEqual([200, 'UpdateItem', 'PutItem', 'UpdateItem'])
    expect(before).toEqual(['UpdateItem'])
    upstream.reply = say('Hello')
  })

  test('a purse that sleeps with the last credits is recalled within the request that needs them', async () => {
    const { account, a, b, idA } = await open()
    await spend(a, 1)
    expect((await purseOf(idA)).available).toBe(credits('1'))
    expect(await spend(b, 10)).toEqual([...Array(9).fill(200), 402])
    expect((await purseOf(idA)).available).toBe(0n)
    expect(await balanceOf(account)).toMatchObject({ available: 0n, spent: credits('10') })
  })

  test('credits that a dead request of another key holds are released within the request that needs them', async () => {
    const { account, b, idA } = await open({ credits: '1' })
    const [hold, requestId] = [credits('1'), requestIdAt(time.nowMs)]
    await draw(account, idA, hold, time.nowMs)
    await takeIn(await purseOf(idA), (await readAccount(account.id)) ?? account)
    const key = await purseOf(idA)
    const demand = demandOf(key, time.nowMs, { requestId, hold, holdUntilMs: time.nowMs + 960_000 })
    const dead = await takeAdmission(tables)(key, demand)
    expect(dead.admitted).toBe(true)
    expect(await statusOf(b)).toBe(402)
    time.nowMs += 960_000
    expect(await spend(b, 2)).toEqual([200, 402])
    expect(await balanceOf(account)).toEqual({ granted: hold, available: 0n, held: 0n, spent: hold })
  })

  test('a dry account costs four reads and its note once a second, and one read otherwise; a grant ends that at once', async () => {
    const { account, a } = await open({ credits: '1' })
    await spend(a, 1)
    const proof = ['UpdateItem', 'GetItem', 'BatchGetItem', 'GetItem', 'BatchGetItem', 'UpdateItem']
    const refused = ['UpdateItem', 'PutItem', 'UpdateItem']
    expect(await callsOf(a)).toEqual([402, ...proof, ...refused])
    expect(await callsOf(a)).toEqual([402, 'UpdateItem', 'GetItem', ...refused])
    time.nowMs += 1_000
    expect(await callsOf(a)).toEqual([402, ...proof, ...refused])
    await grantToAccount(tables)(account.id, credits('1'), actAt(time.nowMs))
    expect(await statusOf(a)).toBe(200)
  })
})

describe('the life of an account', () => {
  const setStatus = ({ id }: Account, status: Account['status']) =>
    setAccountStatus(tables, randomBytes)(id, status, actAt(time.nowMs))

  test('suspending, resuming and closing hold from the next request of every key, by any instance', async () => {
    const { account, a, b, idB } = await open()
    const both = async (secret: string) => [await statusOf(secret), await statusOf(secret, other)]
    expect([await both(a), await both(b)]).toEqual([
      [200, 200],
      [200, 200],
    ])
    await suspendKey(tables)(idB, actAt(time.nowMs))
    await setStatus(account, 'suspended')
    expect([await both(a), await both(b)]).toEqual([
      [403, 403],
      [403, 403],
    ])
    const suspended = await readAccount(account.id)
    const born = await gateway.issue({ account: suspended ?? account, ...LOOSE })
    expect([born.key.status, await statusOf(born.secret)]).toEqual(['suspended', 403])
    await setStatus(account, 'active')
    expect([await both(a), await both(born.secret)]).toEqual([
      [200, 200],
      [200, 200],
    ])
    // It was suspended by itself.
    expect(await both(b)).toEqual([403, 403])
    await setStatus(account, 'revoked')
    expect([await both(a), await both(b), await both(born.secret)]).toEqual(Array(3).fill([401, 401]))
    const left = { granted: credits('10'), available: credits('2'), held: 0n, spent: credits('8') }
    expect(await balanceOf(account)).toEqual(left)
    await sweep()
    time.nowMs += 1
    await sweep()
    // All that is left lies in the pool, and no purse is looked at any more.
    const closed = await readAccount(account.id)
    expect([closed?.available, closed?.marks, closed?.retired]).toEqual([left.available, {}, left.spent])
  })

  test('a key that was read before its account was suspended cannot join it active', async () => {
    const { account } = await open({ keys: 0 })
    await setStatus(account, 'suspended')
    expect(joining(account).status).toBe('active')
    await expect(gateway.issue({ account })).rejects.toThrow()
  })

  test('a key alone that is adopted with an open request brings all of its credits, and the books add up', async () => {
    const { account } = await open({ keys: 0, credits: '1' })
    const { key, secret } = await gateway.issue({ credits: '5', ...LOOSE })
    await spend(secret, 1)
    const release = holdAnswers(upstream)
    const asked = statusOf(secret)
    await until(async () => Object.keys((await gateway.readKey(key.id)).holds).length > 0)
    await adoptKey(tables)(key.id, account.id, actAt(time.nowMs))
    expect(await balanceOf(account)).toEqual({
      granted: credits('6'),
      available: credits('4'),
      held: credits('1'),
      spent: credits('1'),
    })
    release()
    expect(await asked).toBe(200)
    expect(await spend(secret, 5)).toEqual([200, 200, 200, 200, 402])
    expect(await balanceOf(account)).toEqual({ granted: credits('6'), available: 0n, held: 0n, spent: credits('6') })
    await purseOf(key.id)
  })
})
