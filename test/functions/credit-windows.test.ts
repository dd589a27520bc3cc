import { describe, expect, test } from '@jest/globals'
import { COUNTERS, CREDIT_COUNTERS, windowOf } from '../../layers/gateway/domain/admission/counters.ts'
import type { Key } from '../../layers/gateway/domain/keys/key.ts'
import { formatCredits } from '../../layers/gateway/domain/money/money.ts'
import { updateKey } from '../../layers/gateway/store/keys/update-key.ts'
import { actAt } from '../support/act.ts'
import { auditKey } from '../support/audit-key.ts'
import { booksBalance, catalogFor, HELLO } from '../support/gateway.ts'
import { openBoth, openFor } from '../support/stack.ts'
import { holdAnswers } from '../support/upstream.ts'
import { until } from '../support/wait.ts'

const CAPPED = { ...HELLO, max_tokens: 100 }
const CREDIT = 1_000_000_000n
const { upstream, gateway } = await openBoth()
/** That of a capped request. */
const { hold } = (await gateway.ask(CAPPED)).row

type Refusal = { readonly error: { readonly code: string; readonly message: string } }

const count = (responses: Response[], status: number) => responses.filter((r) => r.status === status).length
const countsOf = (key: Key) =>
  CREDIT_COUNTERS.map((name) => Object.values(key.counts[name]).reduce((a, b) => a + b, 0n))
const openAt = (clock: () => number) => openFor(catalogFor(upstream.url), { onSameTables: gateway, clock })

test.each([
  ['the balance', 402, 'credit_balance_exhausted', { credits: formatCredits(hold * 10n) }],
  ...CREDIT_COUNTERS.map((name) => [name, 429, COUNTERS[name].refusal, { [name]: hold * 10n }] as const),
])(
  '%s covers 10 holds: of 200 requests that race through two instances 10 are admitted, 190 get %i, and the audit is clean',
  async (_, status, refusal, credits) => {
    const other = await openFor(catalogFor(upstream.url), { onSameTables: gateway })
    const { key, secret } = await gateway.issue({ rpm: 60_000, maxConcurrent: 1000, ...credits })
    const asked = upstream.requests.length
    const answer = holdAnswers(upstream)
    const all = Promise.all(Array.from({ length: 200 }, (_, i) => (i % 2 ? gateway : other).post(secret, CAPPED)))
    await until(async () => {
      const now = await gateway.readKey(key.id)
      for (const counted of countsOf(now)) expect(counted <= hold * 10n).toBe(true)
      expect(now.available >= 0n).toBe(true)
      const { rows } = await auditKey(gateway.tables, now, Date.now())
      return upstream.requests.length - asked === 10 && rows === 190
    }, 25_000)
    answer()
    const responses = await all
    expect([count(responses, 200), count(responses, status)]).toEqual([10, 190])
    const codes = await Promise.all(responses.map(async (r) => ((await r.json()) as Partial<Refusal>).error?.code))
    expect(new Set(codes)).toEqual(new Set([undefined, refusal]))
    const after = await gateway.readKey(key.id)
    expect(new Set(countsOf(after))).toEqual(new Set([after.spent]))
    expect([after.holds, booksBalance(after)]).toEqual([{}, true])
    expect(await auditKey(gateway.tables, after, Date.now())).toMatchObject({
      balances: true,
      explained: true,
      rows: 200,
    })
  },
)

describe.each(CREDIT_COUNTERS)('%s', (name) => {
  const { refusal } = COUNTERS[name]

  test('covers the last request to the nanocredit, and not one nanocredit more', async () => {
    expect((await gateway.ask(CAPPED, { [name]: hold })).status).toBe(200)
    expect((await gateway.ask(CAPPED, { [name]: hold - 1n })).status).toBe(429)
  })

  test('counts the charges of its window from before it was set, and stops counting against the key when it is removed', async () => {
    const { key, secret } = await gateway.issue()
    await gateway.post(secret, CAPPED)
    const { spent } = await gateway.readKey(key.id)
    const set = (limit: bigint | null) => updateKey(gateway.tables)(key.id, { [name]: limit }, actAt())
    await set(spent + hold - 1n)
    expect((await gateway.post(secret, CAPPED)).status).toBe(429)
    await set(spent + hold)
    expect((await gateway.post(secret, CAPPED)).status).toBe(200)
    await set(1n)
    expect((await gateway.post(secret, CAPPED)).status).toBe(429)
    await set(null)
    expect((await gateway.post(secret, CAPPED)).status).toBe(200)
  })

  test('lowers the cap of an answer to the credits that it covers, if the caller named none', async () => {
    const { status, response, row, key } = await gateway.ask({}, { [name]: hold })
    expect([status, row.hold <= hold && row.hold > hold / 2n]).toEqual([200, true])
    expect(Number(response.headers.get('x-svc-lowered-max-tokens'))).toBeGreaterThan(0)
    expect(new Set(countsOf(key))).toEqual(new Set([row.cost]))
  })

  test('is a 429 that says how much it covers, counts in the other limits, and serves a request within it', async () => {
    const { status, response, error, key, secret } = await gateway.ask({ max_tokens: 900 }, { [name]: hold })
    const tokens = Number(/max_tokens of at most (\d+)/.exec(error.message ?? '')?.[1])
    expect([status, error.code, tokens]).toEqual([429, refusal, 100])
    expect(response.headers.get('x-should-retry')).toBe('false')
    expect(Object.values(key.counts.dailyLimit)).toEqual([1n])
    expect((await gateway.post(secret, { ...HELLO, max_tokens: tokens })).status).toBe(200)
  })

  test('does not hide that the balance is used up, and is not waited for by a request beyond the whole of it', async () => {
    expect((await gateway.ask(CAPPED, { credits: '0', [name]: 1n })).status).toBe(402)
    const { status, response, error } = await gateway.ask(CAPPED, { [name]: hold - 1n })
    expect([status, response.headers.get('retry-after')]).toEqual([429, null])
    expect(error.message).toContain('higher limit')
  })

  test('gets back what was not used in the window that it was taken from, when the request ends in the next one', async () => {
    let nowMs = Date.UTC(2026, 10, 30, 23, 59)
    const before = windowOf(COUNTERS[name], nowMs)
    const timed = await openAt(() => nowMs)
    const { key, secret } = await timed.issue({ [name]: hold })
    const asked = upstream.requests.length
    const open = holdAnswers(upstream)
    const running = timed.post(secret, CAPPED)
    await until(async () => upstream.requests.length > asked)
    expect((await timed.post(secret, CAPPED)).status).toBe(429)
    nowMs += 120_000
    const after = windowOf(COUNTERS[name], nowMs)
    const next = timed.post(secret, CAPPED)
    await until(async () => upstream.requests.length > asked + 1)
    expect((await timed.readKey(key.id)).counts[name]).toEqual({ [before]: hold, [after]: hold })
    open()
    expect([(await running).status, (await next).status]).toEqual([200, 200])
    const { counts, spent } = await timed.readKey(key.id)
    expect(counts[name]).toEqual({ [before]: spent / 2n, [after]: spent / 2n })
  })
})

test('a 429 for credits says in Retry-After when the next window begins, and never to wait for more than a day', async () => {
  let nowMs = Date.UTC(2026, 10, 15, 23, 59)
  const timed = await openAt(() => nowMs)
  const used = async (settings: object) => {
    const { secret } = await timed.issue(settings)
    await timed.post(secret, CAPPED)
    const refused = await timed.post(secret, CAPPED)
    return { secret, told: [refused.status, refused.headers.get('retry-after')] }
  }
  const day = await used({ dailyCredits: hold })
  expect(day.told).toEqual([429, '60'])
  expect((await used({ monthlyCredits: hold })).told).toEqual([429, '86400'])
  nowMs += 60_000
  expect((await timed.post(day.secret, CAPPED)).status).toBe(200)
})

test('a caller sees the credits of its windows by introspection, and null if they are unlimited', async () => {
  const { secret, key } = await gateway.ask(CAPPED, { monthlyCredits: 5n * CREDIT })
  const body = (await (await gateway.get(secret, '/v1/key/introspect')).json()) as {
    limits: { daily_credits: null; monthly_credits: { limit: string; remaining: string; reset: number } }
  }
  expect(body.limits.daily_credits).toBeNull()
  const { limit, remaining, reset } = body.limits.monthly_credits
  expect([limit, BigInt(Math.round(Number(remaining) * 1e9))]).toEqual(['5', 5n * CREDIT - key.spent])
  expect(reset > 0 && reset <= 31 * 86_400).toBe(true)
})
