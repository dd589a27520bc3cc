import { beforeEach, describe, expect, test } from '@jest/globals'
import { createSweep } from '../../functions/sweep/create.ts'
import { requireCatalog } from '../../layers/catalog/parse-catalog.ts'
import { lossOf } from '../../layers/gateway/domain/admission/counters.ts'
import { DAY_MS } from '../../layers/gateway/domain/basics/time.ts'
import type { Key } from '../../layers/gateway/domain/keys/key.ts'
import type { UsageRow } from '../../layers/gateway/domain/rows/usage-row.ts'
import { keyItem, storedHold } from '../../layers/gateway/store/keys/key-item.ts'
import type { NoticeBody } from '../../layers/gateway/wire/keys/notice-body.ts'
import type { TestGateway } from '../support/gateway.ts'
import { requestIdAt } from '../support/request-id.ts'
import { openFor, openUpstream } from '../support/stack.ts'
import { say, status } from '../support/upstream.ts'

// A cheap route at half the price, and one at ten times the price behind it. Every answer is as long as its cap.
const PRICE = { input: '1', output: '2' }
const CHEAP = { input: '0.5', output: '1' }
const DEAR = { input: '10', output: '20' }
const CAP = 100
const USAGE = { prompt_tokens: 10, completion_tokens: CAP, total_tokens: 10 + CAP }
const NANO = {
  cheap: 10n * 500n + 100n * 1_000n,
  charge: 10n * 1_000n + 100n * 2_000n,
  dear: 10n * 10_000n + 100n * 20_000n,
}
const LOST_AT_DEAR = NANO.dear - NANO.charge

let nowMs = Date.UTC(2026, 10, 17, 12)
const cheap = await openUpstream()
const dear = await openUpstream(say('Hello', USAGE))
const model = { contextLength: 1_000, maxOutputTokens: CAP, price: PRICE }
function route(provider: string, priority: number, cost: object, firstByteTimeoutMs?: number) {
  const usual = provider === 'cheap' ? 1_000 : 30_000
  return { provider, model: 'm', priority, cost, firstByteTimeoutMs: firstByteTimeoutMs ?? usual }
}
const catalog = requireCatalog({
  providers: { cheap: { type: 'openai', baseUrl: cheap.url }, dear: { type: 'openai', baseUrl: dear.url } },
  models: [
    { id: 'test-model', ...model, routes: [route('cheap', 0, CHEAP), route('dear', 1, DEAR)] },
    { id: 'two-cheap', ...model, routes: [route('cheap', 0, CHEAP), { ...route('dear', 1, CHEAP), model: 'two' }] },
    { id: 'even', ...model, routes: [route('cheap', 0, PRICE, 300), { ...route('dear', 1, PRICE), model: 'two' }] },
    { id: 'patient', ...model, routes: [route('cheap', 0, CHEAP, 30_000), route('dear', 1, DEAR, 30_000)] },
    { id: 'below-cost', ...model, routes: [route('dear', 0, DEAR)] },
    { id: 'other', ...model, routes: [route('dear', 0, DEAR)] },
    { id: 'falls-back', ...model, routes: [route('cheap', 0, CHEAP)], fallback: ['other'] },
  ],
})
const onSameTables = await openFor(catalog)
/** An instance of its own, which has no failures of a route to remember. */
const openFresh = () => openFor(catalog, { onSameTables, clock: () => nowMs })
let gateway: TestGateway

beforeEach(async () => {
  gateway = await openFresh()
})

const issue = (dailyLoss?: bigint) =>
  gateway.issue({ credits: '1000', rpm: 60_000, maxConcurrent: 1_000, ...(dailyLoss !== undefined && { dailyLoss }) })

const ask = (secret: string, fields: object = {}) => gateway.ask({ max_tokens: CAP, ...fields }, { secret })

const lossAt = async ({ id }: Key) => lossOf(await gateway.readKey(id), nowMs)
const hang = () => {}

/** The most that this request may lose at the dear route: by the bound of its prompt, not by its tokens. */
async function worstLoss(): Promise<bigint> {
  const { row } = await ask((await issue()).secret)
  const prompt = (row.hold - BigInt(CAP) * 2_000n) / 1_000n
  return prompt * 9_000n + BigInt(CAP) * 18_000n
}

describe('a route that costs more than is paid', () => {
  test.each<[string, object]>([
    ['of the model', {}],
    ['of a fallback', { model: 'falls-back' }],
  ])('%s is asked after a failure that may be the provider’s, and its loss is counted', async (_, fields) => {
    for (const reply of [status(500, {}), status(402, {}), status(429, {}), hang]) {
      gateway = await openFresh()
      cheap.reply = reply
      const { key, secret } = await issue()
      const { status: code, row } = await ask(secret, fields)
      expect([code, row.provider, row.cost]).toEqual([200, 'dear', NANO.charge])
      // A provider that was given up may have generated as much as it was allowed.
      expect(row.loss).toBeGreaterThanOrEqual(reply === hang ? LOST_AT_DEAR + 100_000n : LOST_AT_DEAR)
      if (reply !== hang) expect(row.loss).toBe(LOST_AT_DEAR)
      expect(await lossAt(key)).toBe(row.loss)
    }
  })

  test('is never asked after a failure that only a body can cause', async () => {
    for (const reply of [status(404, {}), status(200, 'garbage'), status(200, {})]) {
      cheap.reply = reply
      const before = dear.requests.length
      for (const model of ['test-model', 'falls-back']) {
        expect((await ask((await issue()).secret, { model })).row.attempts).toHaveLength(1)
      }
      expect(dear.requests).toHaveLength(before)
    }
  })

  test('is asked by no more of 200 requests at once than the bound covers, and what was not lost comes back', async () => {
    cheap.reply = status(500, {})
    const bound = 3n * (await worstLoss())
    const { key, secret } = await issue(bound)
    const before = dear.requests.length
    const all = await Promise.all(Array.from({ length: 200 }, () => ask(secret, { model: 'patient' })))
    const answered = all.filter(({ status: code }) => code === 200)
    expect(dear.requests.length - before).toBe(answered.length)
    expect(answered.length).toBeGreaterThan(0)
    expect(await lossAt(key)).toBe(BigInt(answered.length) * LOST_AT_DEAR)
    expect(await lossAt(key)).toBeLessThanOrEqual(bound)
    expect(Object.keys((await gateway.readKey(key.id)).holds)).toEqual([])
  })

  test('is asked no longer when the bound is reached, while others are, until the next UTC day', async () => {
    cheap.reply = status(500, {})
    const { secret } = await issue(await worstLoss())
    expect((await ask(secret)).status).toBe(200)
    expect(await ask(secret)).toMatchObject({ status: 502, row: { attempts: [{ provider: 'cheap' }] } })
    expect((await ask(secret, { model: 'two-cheap' })).status).toBe(200)
    expect(await ask(secret, { model: 'below-cost' })).toMatchObject({
      status: 429,
      error: { code: 'daily_loss_exceeded' },
    })
    nowMs += DAY_MS
    expect((await ask(secret)).status).toBe(200)
  })

  test('is never asked for a key whose bound is 0', async () => {
    cheap.reply = status(500, {})
    const { secret } = await issue(0n)
    expect((await ask(secret)).status).toBe(502)
  })
})

describe('an answer that would be free', () => {
  const bills = (rows: readonly UsageRow[], each: bigint) =>
    BigInt(rows.length) * each - rows.reduce((sum, { cost }) => sum + cost, 0n)

  test('is charged once the bound is reached, so that a provider that bills what it does not send costs no more', async () => {
    cheap.reply = hang
    const bound = 500_000n
    const { key, secret } = await issue(bound)
    const rows: UsageRow[] = []
    for (let i = 0; i < 12; i++) rows.push((await ask(secret, { model: 'even' })).row)
    expect(rows[0]).toMatchObject({ outcome: 'completed', cost: NANO.charge })
    expect(rows.at(-1)).toMatchObject({ outcome: 'upstream_error', completionTokens: CAP })
    expect(rows.at(-1)?.attempts).toHaveLength(1)
    // The hanging route bills its prompt and its cap, and the next one its answer.
    const answered = rows.filter(({ outcome }) => outcome === 'completed').length
    const lost = bills(rows, NANO.charge) + BigInt(answered) * NANO.charge
    expect(lost).toBeLessThanOrEqual(bound + NANO.charge)
    // Its prompt is estimated.
    expect((await lossAt(key)) * 100n).toBeGreaterThanOrEqual(lost * 95n)
  })

  test('is free within the bound: a provider’s own error, and one that did not accept the request', async () => {
    for (const reply of [hang, status(200, { error: { message: 'overloaded' } }), status(503, {})]) {
      gateway = await openFresh()
      cheap.reply = reply
      dear.reply = status(503, {})
      const { key, secret } = await issue()
      const { row } = await ask(secret, { model: 'two-cheap' })
      expect(row).toMatchObject({ cost: 0n, outcome: 'upstream_error' })
      expect((await lossAt(key)) > 0n).toBe(row.attempts[0]?.result !== 'status 503')
      dear.reply = say('Hello', USAGE)
    }
  })
})

test('counts above the hold, a cost that the provider states, and a dead request are losses', async () => {
  cheap.reply = say('Hello', { prompt_tokens: 10 ** 6, completion_tokens: 5, total_tokens: 10 ** 6 + 5 })
  const capped = (await ask((await issue()).secret)).row
  expect(capped).toMatchObject({ usageCapped: true, loss: 10n ** 6n * 500n + 5_000n - capped.cost })
  cheap.reply = say('Hello', { ...USAGE, cost: 0.5 })
  const stated = (await ask((await issue()).secret)).row
  expect(stated.loss).toBe(500_000_000n - NANO.charge)
  const { key } = await issue()
  const hold = { amount: 7_000n, untilMs: nowMs - 1 }
  const requestId = requestIdAt(nowMs - 1_000)
  await gateway.tables.database.update({
    TableName: gateway.tables.keys,
    Key: keyItem(key.id),
    UpdateExpression: 'SET available = available - :hold ADD openHolds :toAdd',
    ExpressionAttributeValues: { ':hold': hold.amount, ':toAdd': new Set([storedHold(requestId, hold)]) },
  })
  expect(await gateway.instance.finishHold(key, { requestId, ...hold })).toMatchObject({ cost: 0n, loss: 7_000n })
  expect(await lossAt(key)).toBe(7_000n)
})

test('a bound that is reached, or keeps a route from being asked, is told once a day, and counted', async () => {
  cheap.reply = status(500, {})
  for (const bound of [1n, await worstLoss()]) {
    const { key, secret } = await issue(bound)
    for (let i = 0; i < 3; i++) await ask(secret)
    const told: NoticeBody[] = []
    const sweep = createSweep(gateway.instance, async (notice) => void told.push(notice))
    await sweep()
    await sweep()
    const mine = told.filter(({ data }) => data.key_id === key.id)
    expect(mine.map(({ type }) => type)).toEqual(['key.daily_loss_exceeded'])
    const reached = { event: 'loss_reached', keyId: key.id, LossReached: 1 }
    expect(gateway.logged()).toContainEqual(expect.objectContaining(reached))
  }
})

test('an ordinary request makes no further write, and its item has its loss only as a count', async () => {
  cheap.reply = say('Hello', USAGE)
  const { key, secret } = await issue()
  await ask(secret)
  const before = gateway.calls.length
  const { row } = await ask(secret)
  expect(row.loss).toBeUndefined()
  expect(gateway.calls.slice(before).map(({ name }) => name)).toEqual(['UpdateItem', 'PutItem', 'UpdateItem'])
  expect(await lossAt(key)).toBe(0n)
})
