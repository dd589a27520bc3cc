import { randomBytes } from 'node:crypto'
import { marshall } from '@aws-sdk/util-dynamodb'
import { beforeAll, describe, expect, test } from '@jest/globals'
import { explainCharge } from '../../layers/admin/explain/explain-charge.ts'
import { formatCredits } from '../../layers/gateway/domain/money/money.ts'
import type { Plans } from '../../layers/gateway/domain/routing/catalog.ts'
import { adoptKey, setAccountStatus, updateAccount } from '../../layers/gateway/store/accounts/change-account.ts'
import { readStoredCatalog } from '../../layers/gateway/store/catalog/read-catalog.ts'
import { writeCatalog } from '../../layers/gateway/store/catalog/write-catalog.ts'
import { toItem } from '../../layers/gateway/store/keys/key-item.ts'
import { readBooks } from '../../layers/gateway/store/keys/read-key.ts'
import { updateKey } from '../../layers/gateway/store/keys/update-key.ts'
import { actAt } from '../support/act.ts'
import { auditKey } from '../support/audit-key.ts'
import { HELLO } from '../support/gateway.ts'
import { intercept } from '../support/intercept.ts'
import { itemBytes, type RawItem } from '../support/item-bytes.ts'
import { credits, LOOSE, openAccounts } from './support/accounts.ts'

// A request costs 1 credit, and 1.25 under the plan gold.
const stand = await openAccounts()
const { time, gateway, other, tables, open, statusOf, balanceOf, sweep, readAccount } = stand
const act = () => actAt(time.nowMs)
const update = updateKey(tables)

async function putPlans(plans: Plans): Promise<void> {
  const stored = await readStoredCatalog(tables)()
  if (stored) await writeCatalog(tables)({ ...stored.data, plans: { ...stored.data.plans, ...plans } }, act())
  for (const { instance } of [gateway, other]) await instance.loadCatalog.renew()
}

beforeAll(() =>
  putPlans({
    gold: { factor: '1.25' },
    half: { factor: '0.5' },
    own: { factor: '9', prices: { 'test-model': { input: '0', output: '0', request: '3' } } },
  }),
)

async function charged(secret: string, at = gateway) {
  const response = await at.post(secret, HELLO)
  await response.text()
  const { cost, hold, plan, priceFactor, price } = await gateway.readRow(response.headers.get('x-request-id'))
  return { cost: formatCredits(cost), hold: formatCredits(hold), plan, priceFactor, request: price?.request }
}

const GOLD = { cost: '1.25', hold: '1.25', plan: 'gold', priceFactor: '1.25', request: '1.25' }
const BASE = { cost: '1', hold: '1', plan: undefined, priceFactor: undefined, request: '1' }

describe('a key with a plan', () => {
  test('200 requests that race with credit for ten at the price of the plan: ten are answered, and the books are clean', async () => {
    const { key, secret } = await gateway.issue({ plan: 'gold', credits: '12.5', ...LOOSE })
    const statuses = await Promise.all(Array.from({ length: 200 }, (_, i) => statusOf(secret, i % 2 ? gateway : other)))
    expect(statuses.toSorted()).toEqual([...Array(10).fill(200), ...Array(190).fill(402)])
    const now = await gateway.readKey(key.id)
    expect(now).toMatchObject({ available: 0n, spent: credits('12.5'), holds: {} })
    expect((await auditKey(tables, now, time.nowMs)).findings).toEqual([])
  })

  test('is held and charged by its factor, which the row keeps and explains', async () => {
    const { secret } = await gateway.issue({ plan: 'gold' })
    const { row } = await gateway.ask({}, { secret })
    expect(await charged(secret)).toEqual(GOLD)
    expect(explainCharge(row)[0]).toEqual(['plan', 'gold, × 1.25'])
  })

  test('is charged by a price of the plan’s own where that has one, without the factor', async () => {
    const { secret } = await gateway.issue({ plan: 'own' })
    const { row } = await gateway.ask({}, { secret })
    expect(await charged(secret)).toEqual({ cost: '3', hold: '3', plan: 'own', priceFactor: undefined, request: '3' })
    expect(explainCharge(row)[0]).toEqual(['plan', 'own, at its own price'])
  })

  test('is told its prices by GET /v1/models, a quote and introspection', async () => {
    const { secret } = await gateway.issue({ plan: 'gold' })
    const { data } = (await (await gateway.get(secret, '/v1/models')).json()) as { data: { pricing: object }[] }
    expect(data[0]?.pricing).toMatchObject({ request: '1.25' })
    const one = await (await gateway.get(secret, '/v1/models/test-model')).json()
    expect(one).toMatchObject({ pricing: { request: '1.25' } })
    const body = { endpoint: '/v1/chat/completions', body: HELLO }
    const quote = await (await gateway.post(secret, body, {}, '/v1/quote')).json()
    expect(quote).toMatchObject({ hold: '1.25', cost: { without_output: '1.25' } })
    expect(await (await gateway.get(secret, '/v1/key/introspect')).json()).toMatchObject({ plan: 'gold' })
  })

  test('of which an instance has an old copy is held by the plan that it has now, from its next request', async () => {
    const { key, secret } = await gateway.issue({ credits: '2.2' })
    await update(key.id, { plan: 'half' }, act())
    expect([await charged(secret), await charged(secret, other)].map(({ cost }) => cost)).toEqual(['0.5', '0.5'])
    await update(key.id, { plan: 'gold' }, act())
    // The 1.2 that are left would cover it at the price that both instances know.
    expect([await statusOf(secret), await statusOf(secret, other)]).toEqual([402, 402])
  })

  test('makes one call before the upstream, as every other', async () => {
    const { secret } = await gateway.issue({ plan: 'gold' })
    await statusOf(secret)
    gateway.calls.length = 0
    await statusOf(secret)
    expect(gateway.calls.map(({ name }) => name)).toEqual(['UpdateItem', 'PutItem', 'UpdateItem'])
  })

  test('whose plan is newer than the catalog that an instance knows is charged by it at once', async () => {
    const stored = await readStoredCatalog(tables)()
    const plans = { ...stored?.data.plans, newest: { factor: '2' } }
    await writeCatalog(tables)({ providers: {}, models: [], ...stored?.data, plans }, act())
    const { secret } = await gateway.issue({ plan: 'newest' })
    expect(await charged(secret, other)).toMatchObject({ cost: '2', priceFactor: '2' })
  })

  test('that there is not, as after a restore, is refused as our fault and charged nothing', async () => {
    const { key, secret } = await gateway.issue({ plan: 'lost' })
    const { status, error, row } = await gateway.ask({}, { secret })
    expect([status, error.code, row.cost, row.hold]).toEqual([500, 'internal_error', 0n, 0n])
    expect(error.message).toContain("does not have the plan 'lost' of this key")
    expect(await gateway.readKey(key.id)).toMatchObject({ spent: 0n, holds: {} })
  })

  test('has an item that is at most 40 bytes larger, with one of its account beside it', async () => {
    const { issued } = await open({ keys: 1, plan: 'a23456789012345' })
    const key = await gateway.readKey(issued[0]?.key.id ?? '')
    if (!key.purse) throw new Error('The key has no purse.')
    const { plan, ...purse } = key.purse
    const bytes = (one: object) =>
      itemBytes(marshall(toItem(one as typeof key), { removeUndefinedValues: true }) as RawItem)
    expect(bytes({ ...key, plan }) - bytes({ ...key, purse })).toBeLessThanOrEqual(40)
    expect(plan).toBe('a23456789012345')
  })
})

describe('an account with a plan', () => {
  const change = updateAccount(tables, randomBytes)

  test('brings it to its keys, but for those with one of their own, from the next request of each', async () => {
    const { account, a, b, idB } = await open({ keys: 2, credits: '100' })
    expect(await charged(a)).toEqual(BASE)
    await update(idB, { plan: 'half' }, act())
    await change(account.id, { plan: 'gold' }, act())
    expect([await charged(a), await charged(a, other), (await charged(b)).cost]).toEqual([GOLD, GOLD, '0.5'])
    await update(idB, { plan: null }, act())
    expect(await charged(b)).toEqual(GOLD)
    await change(account.id, { plan: null }, act())
    expect([await charged(a), await charged(b)]).toEqual([BASE, BASE])
  })

  test('gives it to keys that are made in it, and that it adopts', async () => {
    const { a, account } = await open({ keys: 1, plan: 'gold', credits: '100' })
    const { key, secret } = await gateway.issue()
    await adoptKey(tables)(key.id, account.id, act())
    expect([await charged(a), await charged(secret)]).toEqual([GOLD, GOLD])
  })

  test('brings it to every lane of a key', async () => {
    const { account, a, idA } = await open({ keys: 1, credits: '100' })
    await update(idA, { lanes: 4 }, act())
    await change(account.id, { plan: 'gold' }, act())
    expect((await readBooks(tables)(idA)).map(({ purse }) => purse?.plan)).toEqual(Array(4).fill('gold'))
    for (let i = 0; i < 8; i++) expect((await charged(a, i % 2 ? gateway : other)).cost).toBe('1.25')
  })

  test('that is changed by an act that is cut off before it reaches a key: the sweep brings it there', async () => {
    const { account, a, b, idB } = await open({ keys: 2, credits: '100' })
    const restore = intercept(tables, (send, _, input) => {
      if (JSON.stringify(input).includes('"acPlan"')) throw new Error('The process died.')
      return send()
    })
    await expect(change(account.id, { plan: 'gold' }, act())).rejects.toThrow('The process died.')
    restore()
    expect([await charged(a), (await readAccount(account.id))?.plan]).toEqual([BASE, 'gold'])
    await sweep()
    expect([await charged(a), await charged(b)]).toEqual([GOLD, GOLD])
    // The same change once more finds nothing to do.
    const before = await gateway.readKey(idB)
    await change(account.id, { plan: 'gold' }, act())
    expect((await gateway.readKey(idB)).version).toBe(before.version)
  })

  test('is brought to its keys by the same change, sent again after it was cut off', async () => {
    const { account, a } = await open({ keys: 1, credits: '100' })
    const restore = intercept(tables, (send, _, input) => {
      if (JSON.stringify(input).includes('"acPlan"')) throw new Error('The process died.')
      return send()
    })
    await expect(change(account.id, { plan: 'gold' }, act())).rejects.toThrow('The process died.')
    restore()
    await change(account.id, { plan: 'gold' }, act())
    expect(await charged(a)).toEqual(GOLD)
  })

  test('whose status and plan change keeps suspended what was suspended by itself', async () => {
    const { account, a, b, idB } = await open({ keys: 2, credits: '100' })
    await update(idB, { note: 'later' }, act())
    const setStatus = setAccountStatus(tables, randomBytes)
    await setStatus(account.id, 'suspended', act())
    await change(account.id, { plan: 'gold' }, act())
    expect([await statusOf(a), await statusOf(b)]).toEqual([403, 403])
    await setStatus(account.id, 'active', act())
    expect([await charged(a), await charged(b)]).toEqual([GOLD, GOLD])
    expect(await balanceOf(account)).toMatchObject({ spent: credits('2.5') })
  })
})
