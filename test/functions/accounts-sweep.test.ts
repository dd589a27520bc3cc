import { describe, expect, test } from '@jest/globals'
import { type Account, IDLE_MS } from '../../layers/gateway/domain/keys/account.ts'
import { grantToAccount } from '../../layers/gateway/store/accounts/change-account.ts'
import { actAt } from '../support/act.ts'
import { credits, openAccounts } from './support/accounts.ts'

const stand = await openAccounts()
const { time, tables, open, statusOf, spend, balanceOf, poolOf, purseOf, readAccount, draw, giveBack, sweep } = stand

describe('credits that lie idle or were cut off on their way', () => {
  test('those of a purse that was not used for an hour come back to the pool', async () => {
    const { account, a, b, idA, idB } = await open()
    const lying = async () => [(await purseOf(idA)).available, (await purseOf(idB)).available, await poolOf(account)]
    await sweep()
    await spend(a, 1)
    time.nowMs += 1
    await spend(b, 1)
    time.nowMs += IDLE_MS - 2
    await sweep()
    expect(await lying()).toEqual([credits('1'), credits('1'), credits('6')])
    time.nowMs += 1
    await sweep()
    expect(await lying()).toEqual([0n, credits('1'), credits('7')])
    time.nowMs += 1
    await sweep()
    expect(await lying()).toEqual([0n, 0n, credits('8')])
  })

  /** The first write of a transfer, as a process leaves it that dies before the second. */
  async function cutOff(account: Account, keyId: string): Promise<void> {
    const known = await readAccount(account.id)
    if (known) await draw(known, keyId, credits('3'), time.nowMs)
  }

  test('those on their way to a purse are brought there by the next request that needs them, without a further draw', async () => {
    const { account, a, idA } = await open()
    await cutOff(account, idA)
    expect([(await purseOf(idA)).available, (await balanceOf(account))?.available]).toEqual([0n, credits('10')])
    expect(await statusOf(a)).toBe(200)
    expect([(await purseOf(idA)).available, await poolOf(account)]).toEqual([credits('2'), credits('7')])
  })

  test('those on their way to another purse are found by the request that needs the last ones', async () => {
    const { account, b, idA } = await open()
    await cutOff(account, idA)
    expect(await spend(b, 11)).toEqual([...Array(10).fill(200), 402])
  })

  test('the sweep completes both ways', async () => {
    const { account, a, idA, idB } = await open()
    await spend(a, 1)
    await giveBack(await purseOf(idA), credits('1'))
    await cutOff(account, idB)
    expect(await poolOf(account)).toBe(credits('5'))
    time.nowMs += IDLE_MS
    await sweep()
    expect(await balanceOf(account)).toMatchObject({ available: credits('9') })
    time.nowMs += 1
    await sweep()
    expect([(await purseOf(idA)).available, (await purseOf(idB)).available]).toEqual([0n, 0n])
    expect(await poolOf(account)).toBe(credits('9'))
  })
})

test('the account tells that its balance is low once, and again after a top-up; its keys tell nothing of a balance', async () => {
  const { account, a, b } = await open({ credits: '4', notifyBelow: credits('3') })
  const told = async () => {
    time.nowMs += 60_000
    const notices = await sweep()
    return notices.filter(({ data }) => data.account_id === account.id).map(({ type }) => type)
  }
  await spend(a, 1)
  expect(await told()).toEqual([])
  await spend(b, 1)
  expect([await told(), await told()]).toEqual([['account.balance_low'], []])
  await grantToAccount(tables)(account.id, credits('2'), actAt(time.nowMs))
  expect(await told()).toEqual([])
  expect(await spend(a, 2)).toEqual([200, 200])
  expect([await told(), await told()]).toEqual([['account.balance_low'], []])
  expect(await spend(b, 4)).toEqual([200, 200, 402, 402])
  expect([await told(), await told()]).toEqual([['account.credit_balance_exhausted'], []])
})
