import { describe, expect, test } from '@jest/globals'
import { updateKey } from '../../layers/gateway/store/keys/update-key.ts'
import { actAt } from '../support/act.ts'
import { booksBalance, catalogFor, HELLO } from '../support/gateway.ts'
import { intercept } from '../support/intercept.ts'
import { openBoth, openFor } from '../support/stack.ts'
import { beginAnswers, say } from '../support/upstream.ts'

const NOW = Date.UTC(2026, 10, 15, 12)
const { upstream, gateway } = await openBoth()

const count = (responses: Response[], status: number) => responses.filter((r) => r.status === status).length
const drain = (responses: Response[]) => Promise.all(responses.map((response) => response.arrayBuffer()))

test('a warm instance makes one DynamoDB call before it asks the upstream, and a cold one makes four', async () => {
  const cold = await openFor(catalogFor(upstream.url), { onSameTables: gateway })
  const { secret } = await gateway.issue()
  for (const expected of [['GetItem', 'GetItem', 'GetItem', 'UpdateItem'], ['UpdateItem'], ['UpdateItem']]) {
    cold.calls.length = 0
    let callsBefore: string[] = []
    upstream.reply = (response, request) => {
      callsBefore = cold.calls.map(({ name }) => name)
      return say('Hello')(response, request)
    }
    const response = await cold.post(secret, HELLO)
    expect(response.status).toBe(200)
    await response.text()
    expect(callsBefore.sort()).toEqual(expected)
  }
  upstream.reply = say('Hello')
})

test('a cold instance reads the catalog while it reads the key, not before', async () => {
  const cold = await openFor(catalogFor(upstream.url), { onSameTables: gateway })
  const { secret } = await gateway.issue()
  const started: number[] = []
  const ended: number[] = []
  intercept(cold.tables, async (send) => {
    started.push(performance.now())
    const result = await send()
    ended.push(performance.now())
    return result
  })
  await (await cold.get(secret, '/v1/models')).text()
  // The second call began before the first one ended.
  expect(started[1]).toBeLessThan(ended[0] as number)
})

describe('racing requests', () => {
  test('a key limited to 40 requests a day admits exactly 40 of 200 that race through two instances', async () => {
    const other = await openFor(catalogFor(upstream.url), { onSameTables: gateway })
    const { secret } = await gateway.issue({ rpm: 60_000, dailyLimit: 40 })
    const responses = await Promise.all(
      Array.from({ length: 200 }, (_, i) => (i % 2 ? gateway : other).post(secret, HELLO)),
    )
    await drain(responses)
    expect([count(responses, 200), count(responses, 429)]).toEqual([40, 160])
    for (const response of responses)
      expect(Number(response.headers.get('ratelimit-remaining'))).toBeGreaterThanOrEqual(0)
  })

  test('racing requests without a token cap never overspend the balance, and those that it does not cover get 402', async () => {
    const { key, secret } = await gateway.issue({ rpm: 60_000, credits: '0.0032' })
    const responses = await Promise.all(Array.from({ length: 20 }, () => gateway.post(secret, HELLO)))
    await drain(responses)
    expect(count(responses, 200)).toBeGreaterThanOrEqual(1)
    expect(count(responses, 200) + count(responses, 402)).toBe(20)
    const after = await gateway.readKey(key.id)
    expect(booksBalance(after)).toBe(true)
    expect((await gateway.post(secret, HELLO)).status).toBe(200)
  })
})

describe('refusals', () => {
  test('a 429 for the limit per minute says when to come back, and costs nothing', async () => {
    let nowMs = NOW
    const timed = await openFor(catalogFor(upstream.url), { onSameTables: gateway, clock: () => nowMs })
    const { key, secret } = await timed.issue({ rpm: 2 })
    for (let i = 0; i < 2; i++) expect((await timed.post(secret, HELLO)).status).toBe(200)
    const spent = (await timed.readKey(key.id)).spent
    const refused = await timed.post(secret, HELLO)
    expect(refused.status).toBe(429)
    expect(await refused.json()).toMatchObject({ error: { type: 'rate_limit_error', code: 'rate_limit_exceeded' } })
    expect(refused.headers.get('retry-after')).toBe('30')
    expect(refused.headers.get('x-should-retry')).toBeNull()
    expect(refused.headers.get('ratelimit-remaining')).toBe('0')
    expect((await timed.readKey(key.id)).spent).toBe(spent)
    nowMs += 29_999
    expect((await timed.post(secret, HELLO)).status).toBe(429)
    nowMs += 1
    expect((await timed.post(secret, HELLO)).status).toBe(200)
  })

  test('a 429 for the limit per day says when to come back and that SDKs shall not retry, and requests are served again after midnight UTC', async () => {
    let nowMs = Date.UTC(2026, 10, 15, 23, 59, 0)
    const timed = await openFor(catalogFor(upstream.url), { onSameTables: gateway, clock: () => nowMs })
    const { secret } = await timed.issue({ dailyLimit: 1 })
    const first = await timed.post(secret, HELLO)
    expect(first.headers.get('ratelimit-limit')).toBe('1')
    expect(first.headers.get('ratelimit-reset')).toBe('60')
    const refused = await timed.post(secret, HELLO)
    expect(refused.status).toBe(429)
    const message = 'This key is limited to 1 requests per day. It can be used again at midnight UTC, in 60 s.'
    expect(await refused.json()).toMatchObject({ error: { code: 'daily_limit_exceeded', message } })
    expect(refused.headers.get('x-should-retry')).toBe('false')
    expect(refused.headers.get('retry-after')).toBe('60')
    nowMs += 60_000
    expect((await timed.post(secret, HELLO)).status).toBe(200)
  })

  test('a key limited to one request at a time refuses a second with 429 while the first is under way, not after', async () => {
    const { secret } = await gateway.issue({ maxConcurrent: 1 })
    const finish = beginAnswers(upstream)
    const running = await gateway.post(secret, { ...HELLO, stream: true })
    upstream.reply = say('Hello')
    const { status, response, error } = await gateway.ask({}, { secret })
    expect([status, error.code]).toEqual([429, 'concurrency_limit_exceeded'])
    expect(response.headers.get('retry-after')).toBe('1')
    finish()
    await running.text()
    expect((await gateway.post(secret, HELLO)).status).toBe(200)
  })

  test('a 402 names the largest max_tokens that the balance covers, and a request with that many is served', async () => {
    const { secret } = await gateway.issue({ credits: '0.0005' })
    const ask = (max_tokens: number) => gateway.ask({ max_tokens }, { secret })
    const { status, response, error } = await ask(900)
    expect([status, response.headers.get('x-should-retry')]).toEqual([402, 'false'])
    expect(error).toMatchObject({ type: 'insufficient_quota', code: 'credit_balance_exhausted' })
    const tokens = Number(/max_tokens of at most (\d+)/.exec(error.message ?? '')?.[1])
    expect(tokens).toBeGreaterThan(0)
    expect([(await ask(tokens + 1)).status, (await ask(tokens)).status]).toEqual([402, 200])
  })

  test('a request refused for its body counts in the limits, and one refused for its scope does not', async () => {
    const { key, secret } = await gateway.issue({ scopes: ['chat.completions'] })
    await gateway.post(secret, { ...HELLO, messages: [] })
    const used = Object.values((await gateway.readKey(key.id)).counts.dailyLimit)
    expect(used).toEqual([1n])
    const refused = await gateway.get(secret, '/v1/models')
    expect(refused.status).toBe(403)
    expect(refused.headers.get('ratelimit-remaining')).not.toBeNull()
    expect(Object.values((await gateway.readKey(key.id)).counts.dailyLimit)).toEqual([1n])
  })

  test('a request refused with 402 counts in the limits like every other request with a valid key', async () => {
    const { key, secret } = await gateway.issue({ credits: '0', rpm: 3 })
    const statuses = []
    for (let i = 0; i < 5; i++) statuses.push((await gateway.post(secret, HELLO)).status)
    expect(statuses).toEqual([402, 402, 402, 429, 429])
    const after = await gateway.readKey(key.id)
    expect([Object.values(after.counts.dailyLimit), after.holds]).toEqual([[3n], {}])
  })

  test('a refused request does not claim its Idempotency-Key, and a 429 takes one write and its usage row', async () => {
    const { secret } = await gateway.issue({ credits: '0', rpm: 2 })
    const refusedWith = async (key: string) => {
      const from = gateway.calls.length
      const response = await gateway.post(secret, HELLO, { 'Idempotency-Key': key })
      await response.text()
      return [response.status, ...gateway.calls.slice(from).map(({ name }) => name)]
    }
    await refusedWith('a')
    // Refused by the first write, counted by the second; the read finds no answer that was paid for.
    expect(await refusedWith('b')).toEqual([402, 'UpdateItem', 'UpdateItem', 'GetItem', 'PutItem', 'UpdateItem'])
    expect(await refusedWith('c')).toEqual([429, 'UpdateItem', 'PutItem'])
  })

  test('a request that loses twelve races for its key is a 429 with Retry-After, and holds and counts nothing', async () => {
    const { key, secret } = await gateway.issue()
    const elsewhere = await openFor(catalogFor(upstream.url), { onSameTables: gateway })
    let races = 0
    const restore = intercept(gateway.tables, async (send, command, input) => {
      const { ReturnValues } = input as { ReturnValues?: string }
      if (command === 'UpdateItem' && ReturnValues === 'UPDATED_NEW') {
        races += 1
        await updateKey(elsewhere.tables)(key.id, { name: `changed ${races}` }, actAt())
      }
      return send()
    })
    const response = await gateway.post(secret, HELLO)
    restore()
    expect([response.status, races, response.headers.get('retry-after')]).toEqual([429, 12, '1'])
    expect(await response.json()).toMatchObject({ error: { code: 'key_busy', type: 'rate_limit_error' } })
    expect(await gateway.readKey(key.id)).toMatchObject({ holds: {}, counts: { dailyLimit: {} } })
    expect(await gateway.readRow(response.headers.get('x-request-id'))).toMatchObject({ outcome: 'refused' })
  })

  test('every refused request of a known key leaves a usage row that costs nothing', async () => {
    const { secret } = await gateway.issue({ credits: '0', scopes: ['chat.completions'] })
    for (const [response, errorCode] of [
      [await gateway.post(secret, HELLO), 'credit_balance_exhausted'],
      [await gateway.post(secret, { ...HELLO, model: 'nope' }), 'model_not_found'],
      [await gateway.get(secret, '/v1/models'), 'insufficient_scope'],
      [await gateway.get(secret, '/v1/nothing'), 'not_found'],
    ] as const) {
      const row = await gateway.readRow(response.headers.get('x-request-id'))
      expect(row).toMatchObject({ outcome: 'refused', errorCode, cost: 0n, httpStatus: response.status })
    }
  })
})
