import { describe, expect, test } from '@jest/globals'
import { wholeKeys } from '../../layers/gateway/store/accounts/whole-keys.ts'
import { readBooks } from '../../layers/gateway/store/keys/read-key.ts'
import { revokeKey } from '../../layers/gateway/store/keys/rotate-key.ts'
import { suspendKey } from '../../layers/gateway/store/keys/suspend-key.ts'
import { updateKey } from '../../layers/gateway/store/keys/update-key.ts'
import { actAt } from '../support/act.ts'
import { HELLO } from '../support/gateway.ts'
import { intercept } from '../support/intercept.ts'
import { holdAnswers, say } from '../support/upstream.ts'
import { until } from '../support/wait.ts'
import { credits, LOOSE, openAccounts } from './support/accounts.ts'

const { time, upstream, gateway, other, tables, statusOf, sweep } = await openAccounts()
const [readLanes, update] = [readBooks(tables), updateKey(tables)]

async function openLanes(lanes: number, settings: object = {}) {
  const { key, secret } = await gateway.issue({ credits: '1000', ...LOOSE, ...settings })
  const result = await update(key.id, { lanes }, actAt(time.nowMs))
  expect(result.changed).toBe(true)
  return { id: key.id, secret }
}

/** The statuses of requests that race over two instances. */
async function race(secret: string, count = 200): Promise<Record<string, number>> {
  const statuses = await Promise.all(Array.from({ length: count }, (_, i) => statusOf(secret, i % 2 ? gateway : other)))
  return Object.fromEntries(
    Object.entries(Object.groupBy(statuses, String)).map(([status, all]) => [status, all?.length ?? 0]),
  )
}

async function whole(id: string) {
  const [first] = await readLanes(id)
  const [key] = first ? await wholeKeys(tables)([first], time.nowMs) : []
  return key
}

describe('200 requests that race over 16 lanes', () => {
  test('at 60 a minute: 60 are answered', async () => {
    const { secret } = await openLanes(16, { rpm: 60 })
    expect(await race(secret)).toEqual({ 200: 60, 429: 140 })
  })

  test('with credit for ten: ten are answered', async () => {
    const { id, secret } = await openLanes(16, { credits: '10' })
    expect(await race(secret)).toEqual({ 200: 10, 402: 190 })
    expect(await whole(id)).toMatchObject({ granted: credits('10'), available: 0n, spent: credits('10'), holds: {} })
  })

  test('with 25 a day: 25 are answered', async () => {
    const { secret } = await openLanes(16, { dailyLimit: 25 })
    expect(await race(secret)).toEqual({ 200: 25, 429: 175 })
  })

  test('with credits for seven a day: seven are answered', async () => {
    const { secret } = await openLanes(16, { dailyCredits: credits('7.5') })
    expect(await race(secret)).toEqual({ 200: 7, 429: 193 })
  })

  test('with five at once: five are answered', async () => {
    const { secret } = await openLanes(16, { maxConcurrent: 5 })
    const release = holdAnswers(upstream)
    const statuses: number[] = []
    const all = Array.from({ length: 200 }, async (_, i) =>
      statuses.push(await statusOf(secret, i % 2 ? gateway : other)),
    )
    await until(() => statuses.length >= 195)
    release()
    await Promise.all(all)
    expect(statuses.toSorted()).toEqual([...Array(5).fill(200), ...Array(195).fill(429)])
  })
})

test('a revoke and a suspension hold on every lane when they have answered', async () => {
  const { id, secret } = await openLanes(8)
  await race(secret, 40)
  await suspendKey(tables)(id, actAt(time.nowMs))
  expect(await race(secret, 40)).toEqual({ 403: 40 })
  await revokeKey(tables)(id, actAt(time.nowMs))
  expect(await race(secret, 40)).toEqual({ 401: 40 })
  expect((await readLanes(id)).map(({ status }) => status)).toEqual(Array(8).fill('revoked'))
})

test('a revoke under load is never followed by an answer', async () => {
  const { id, secret } = await openLanes(8)
  let [isRevoked, isOver] = [false, false]
  const after: number[] = []
  const callers = Array.from({ length: 24 }, async (_, i) => {
    while (!isOver) {
      const wasRevoked = isRevoked
      const status = await statusOf(secret, i % 2 ? gateway : other)
      if (wasRevoked) after.push(status)
    }
  })
  await until(async () => ((await whole(id))?.spent ?? 0n) > credits('50'))
  await revokeKey(tables)(id, actAt(time.nowMs, 'test', 20_000))
  isRevoked = true
  await until(() => after.length >= 200)
  isOver = true
  await Promise.all(callers)
  expect(new Set(after)).toEqual(new Set([401]))
})

test('an act that was cut off after its first write is brought to all lanes by the sweep, and by a request that its lane refuses', async () => {
  for (const finish of [sweep, (secret: string) => race(secret, 60)]) {
    const { id, secret } = await openLanes(4, { rpm: 40 })
    await race(secret, 8)
    const restore = intercept(tables, async (send, name, input) => {
      const { Key } = input as { Key?: { sk: string } }
      if (name === 'UpdateItem' && Key?.sk === 'LANE') throw new Error('The process has ended.')
      return send()
    })
    const cutOff = update(id, { rpm: 8, lanes: 6 }, actAt(time.nowMs, 'test', 500))
    await expect(cutOff.finally(restore)).rejects.toThrow('The process has ended.')
    await finish(secret)
    const lanes = await readLanes(id)
    expect(new Set(lanes.map(({ version, rpm, lane }) => `${version} ${rpm} ${lane?.isClosed}`)).size).toBe(1)
    expect(lanes.map(({ lane }) => lane?.dealing)).toEqual(Array(6).fill(undefined))
    // A minute later all of the new limit can be used.
    time.nowMs += 60_000
    expect(await race(secret, 20)).toEqual({ 200: 8, 429: 12 })
  }
})

test('lanes are added and taken away while requests run, and none is refused that has room', async () => {
  const { id, secret } = await openLanes(2, { rpm: 60_000, dailyCredits: credits('900') })
  let isOver = false
  const statuses: number[] = []
  const callers = Array.from({ length: 12 }, async (_, i) => {
    while (!isOver) statuses.push(await statusOf(secret, i % 2 ? gateway : other))
  })
  for (const lanes of [8, 3, 16, 1, 6]) {
    const before = statuses.length
    expect((await update(id, { lanes }, actAt(time.nowMs))).changed).toBe(true)
    await until(() => statuses.length > before + 20)
  }
  isOver = true
  await Promise.all(callers)
  expect(new Set(statuses)).toEqual(new Set([200]))
  const { spent, counts } = (await whole(id)) ?? {}
  expect(spent).toBe(credits(String(statuses.length)))
  expect(Object.values(counts?.dailyLimit ?? {})).toEqual([BigInt(statuses.length)])
})

test('a limit that is lowered below what was taken lets nothing in, and one that is raised lets in what it has more', async () => {
  const { id, secret } = await openLanes(8, { dailyLimit: 100 })
  expect(await race(secret, 30)).toEqual({ 200: 30 })
  await update(id, { dailyLimit: 20 }, actAt(time.nowMs))
  expect(await race(secret, 10)).toEqual({ 429: 10 })
  await update(id, { dailyLimit: 35 }, actAt(time.nowMs))
  expect(await race(secret, 20)).toEqual({ 200: 5, 429: 15 })
})

test('an answer that was paid for through one lane is given again through another, free', async () => {
  const { id, secret } = await openLanes(8)
  const ask = async (at: typeof gateway) => {
    const response = await at.post(secret, HELLO, { 'Idempotency-Key': 'a' })
    return [response.status, await response.text()]
  }
  const first = await ask(gateway)
  await update(id, { lanes: 1 }, actAt(time.nowMs))
  expect(await ask(other)).toEqual(first)
  expect((await whole(id))?.spent).toBe(credits('1'))
})

test('more and fewer lanes lose no credit and no request of a minute', async () => {
  const { id, secret } = await openLanes(4, { rpm: 60 })
  expect(await race(secret, 20)).toEqual({ 200: 20 })
  await update(id, { lanes: 16 }, actAt(time.nowMs))
  expect(await race(secret, 20)).toEqual({ 200: 20 })
  await update(id, { lanes: 1 }, actAt(time.nowMs))
  expect(await race(secret, 40)).toEqual({ 200: 20, 429: 20 })
  expect(await whole(id)).toMatchObject({ granted: credits('1000'), available: credits('940'), spent: credits('60') })
  // The first one completes what is under way.
  await sweep()
  await sweep()
  const lanes = await readLanes(id)
  expect(lanes.slice(1).map(({ available, lane }) => [available, lane?.isClosed])).toEqual(Array(15).fill([0n, true]))
})

describe('a caller of a key with 8 lanes', () => {
  test('is told the sums over all of them, by headers, introspection, credits and quotes', async () => {
    const { secret } = await openLanes(8, { rpm: 60, credits: '100', dailyCredits: credits('50') })
    await race(secret, 12)
    time.nowMs += 1_000
    const response = await gateway.post(secret, HELLO)
    await response.text()
    // A second has brought one request back.
    expect(response.headers.get('ratelimit-limit')).toBe('60')
    const answer = await gateway.get(secret, '/v1/key/introspect')
    const told = (await answer.json()) as { limits: { rpm: { remaining: number } } }
    expect(told).toMatchObject({ balance: '87', held: '0', spent: '13', account: null })
    expect(told.limits).toMatchObject({
      rpm: { limit: 60 },
      daily: { remaining: 10_000 - 14 },
      concurrent: { limit: 1_000, in_use: 0 },
      daily_credits: { limit: '50', remaining: '37' },
    })
    const remaining = [Number(response.headers.get('ratelimit-remaining')), told.limits.rpm.remaining]
    expect(remaining[0]).toBeGreaterThanOrEqual(60 - 13 - 1)
    expect(remaining[1]).toBeLessThan(60 - 12)
    expect(await (await gateway.get(secret, '/v1/credits')).json()).toEqual({
      data: { total_credits: 100, total_usage: 13 },
    })
  })

  test('waits for one write before the model is asked, and costs the same three writes', async () => {
    const { secret } = await openLanes(8)
    // A draw brings as much again as was used since the last one.
    for (let i = 0; i < 3; i++) await statusOf(secret)
    gateway.calls.length = 0
    let before: string[] = []
    upstream.reply = (response, request) => {
      before = gateway.calls.map(({ name }) => name)
      return say('Hello')(response, request)
    }
    await statusOf(secret)
    upstream.reply = say('Hello')
    expect(before.filter((name) => name !== 'BatchGetItem' && name !== 'GetItem')).toEqual(['UpdateItem'])
    expect(gateway.calls.map(({ name }) => name)).toEqual(['UpdateItem', 'PutItem', 'UpdateItem'])
  })
})
