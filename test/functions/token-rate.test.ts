import { describe, expect, test } from '@jest/globals'
import { COUNTERS, windowOf } from '../../layers/gateway/domain/admission/counters.ts'
import type { Key } from '../../layers/gateway/domain/keys/key.ts'
import { updateKey } from '../../layers/gateway/store/keys/update-key.ts'
import { actAt } from '../support/act.ts'
import { catalogFor, HELLO, type TestGateway } from '../support/gateway.ts'
import { openFor, openUpstream } from '../support/stack.ts'
import { holdAnswers, say, USAGE } from '../support/upstream.ts'
import { until } from '../support/wait.ts'

const NOON = Date.UTC(2026, 10, 15, 12)
const CAPPED = { ...HELLO, max_tokens: 100 }
const LOOSE = { rpm: 60_000, maxConcurrent: 1_000, credits: '1000' }
const MINUTE = 60_000

const upstream = await openUpstream()
const time = { nowMs: NOON }
const gateway = await openFor(catalogFor(upstream.url), { clock: () => time.nowMs })
const openAt = (clock: () => number) => openFor(catalogFor(upstream.url), { onSameTables: gateway, clock })
const other = await openAt(() => time.nowMs)

type Refusal = { readonly error: { readonly code: string; readonly message: string } }

const tokensOf = (key: Key, nowMs = time.nowMs) => key.counts.tpm[windowOf(COUNTERS.tpm, nowMs)]
const stillTaken = async (id: string, nowMs = time.nowMs) => tokensOf(await gateway.readKey(id), nowMs)
const headersOf = ({ headers }: Response) =>
  ['limit', 'remaining', 'reset'].map((name) => headers.get(`x-ratelimit-${name}-tokens`))

/** The most that a request with this cap may take: what the window has while it is under way. */
async function taken(body: object = CAPPED): Promise<number> {
  const { key, secret } = await gateway.issue({ ...LOOSE, tpm: 1_000_000 })
  const { open, asked } = holding()
  const running = gateway.post(secret, body)
  await asked(1)
  const count = await stillTaken(key.id)
  open()
  await (await running).text()
  return Number(count)
}

function holding() {
  const before = upstream.requests.length
  const open = holdAnswers(upstream)
  return { open, asked: (count: number) => until(async () => upstream.requests.length - before === count, 20_000) }
}

/** The answers to requests that race over two instances, none of which ends before all others are refused. */
async function race(secret: string, most: number, count = 200): Promise<Response[]> {
  const { open, asked } = holding()
  let refused = 0
  const ask = async (one: TestGateway) => {
    const response = await one.post(secret, CAPPED)
    if (response.status !== 200) refused += 1
    return response
  }
  const all = Promise.all(Array.from({ length: count }, (_, i) => ask(i % 2 ? gateway : other)))
  await asked(most)
  await until(async () => refused === count - most, 25_000)
  open()
  return all
}

async function codesOf(responses: readonly Response[]): Promise<Record<string, number | undefined>> {
  const codes = await Promise.all(
    responses.map(async (one) => (one.status === 200 ? 'ok' : ((await one.json()) as Refusal).error.code)),
  )
  return Object.fromEntries(Object.entries(Object.groupBy(codes, String)).map(([code, all]) => [code, all?.length]))
}

const ONE = await taken()

describe('200 requests that race for the tokens of a minute', () => {
  test.each([1, 4])('over %i lanes: as many as have room are answered, all others get 429', async (lanes) => {
    const { key, secret } = await gateway.issue({ ...LOOSE, tpm: ONE * 10 + 7 })
    if (lanes > 1) await updateKey(gateway.tables)(key.id, { lanes }, actAt(time.nowMs))
    const answers = await race(secret, 10)
    expect(await codesOf(answers)).toEqual({ ok: 10, token_rate_limit_exceeded: 190 })
  })

  // LiteLLM counts tokens when an answer has come: https://github.com/BerriAI/litellm/issues/18730
  test('one of five passes that each need almost the whole limit', async () => {
    const { secret } = await gateway.issue({ ...LOOSE, tpm: ONE + 1 })
    expect(await codesOf(await race(secret, 1, 5))).toEqual({ ok: 1, token_rate_limit_exceeded: 4 })
  })

  test('clocks that are two minutes apart: each minute has its own tokens, whoever asks', async () => {
    const ahead = await openAt(() => time.nowMs + 2 * MINUTE)
    const { key, secret } = await gateway.issue({ ...LOOSE, tpm: ONE * 3 })
    const { open, asked } = holding()
    let refused = 0
    const ask = async (one: TestGateway) => {
      const response = await one.post(secret, CAPPED)
      if (response.status !== 200) refused += 1
      return response
    }
    const ten = (one: TestGateway) => Array.from({ length: 10 }, () => ask(one))
    // The clock that is ahead comes second: its bucket would leave the other one a single request.
    const behind = ten(gateway)
    await asked(3)
    await until(async () => refused === 7, 20_000)
    const all = [...behind, ...ten(ahead)]
    await asked(6)
    const { counts } = await gateway.readKey(key.id)
    expect(Object.values(counts.tpm)).toEqual([BigInt(ONE * 3), BigInt(ONE * 3)])
    open()
    expect(await codesOf(await Promise.all(all))).toEqual({ ok: 6, token_rate_limit_exceeded: 14 })
  })
})

describe('the tokens of a request', () => {
  test('are those that were used when it has ended, so that the same minute has room for the next', async () => {
    const { key, secret } = await gateway.issue({ ...LOOSE, tpm: ONE + USAGE.total_tokens })
    for (const used of [1, 2]) {
      expect((await gateway.post(secret, CAPPED)).status).toBe(200)
      expect(await stillTaken(key.id)).toBe(BigInt(used * USAGE.total_tokens))
    }
    const refused = await gateway.post(secret, CAPPED)
    expect([refused.status, refused.headers.get('retry-after')]).toEqual([429, '60'])
    time.nowMs += 60_000
    expect((await gateway.post(secret, CAPPED)).status).toBe(200)
  })

  test.each([
    ['counts more than was taken', say('Hello', { ...USAGE, completion_tokens: 10_000 }), BigInt(ONE)],
    ['fails', (response: { destroy(): unknown }) => void response.destroy(), 0n],
  ] as const)('are at most those that it took if its upstream %s', async (_, reply, used) => {
    upstream.reply = reply as typeof upstream.reply
    const { key, secret } = await gateway.issue({ ...LOOSE, tpm: ONE * 2 })
    await (await gateway.post(secret, CAPPED)).text()
    upstream.reply = say('Hello')
    expect(await stillTaken(key.id)).toBe(used)
  })

  test('return to the minute that they were taken from, when it ends in the next one', async () => {
    const { key, secret } = await gateway.issue({ ...LOOSE, tpm: ONE })
    const before = time.nowMs
    const { open, asked } = holding()
    const running = gateway.post(secret, CAPPED)
    await asked(1)
    time.nowMs += 60_000
    const next = gateway.post(secret, CAPPED)
    await asked(2)
    expect([await stillTaken(key.id, before), await stillTaken(key.id)]).toEqual([BigInt(ONE), BigInt(ONE)])
    open()
    expect([(await running).status, (await next).status]).toEqual([200, 200])
    expect([await stillTaken(key.id, before), await stillTaken(key.id)]).toEqual([15n, 15n])
  })

  test('are left where they are when its minute is forgotten', async () => {
    const { key, secret } = await gateway.issue({ ...LOOSE, tpm: ONE })
    const { open, asked } = holding()
    const running = gateway.post(secret, CAPPED)
    await asked(1)
    time.nowMs += 10 * 60_000
    const next = gateway.post(secret, CAPPED)
    await asked(2)
    open()
    expect([(await running).status, (await next).status]).toEqual([200, 200])
    expect((await gateway.readKey(key.id)).counts.tpm).toEqual({ [windowOf(COUNTERS.tpm, time.nowMs)]: 15n })
  })
})

test('a request without a cap gets the one that the minute covers, and headers say what is left of it', async () => {
  const { response, status, row } = await gateway.ask({}, { tpm: ONE })
  // The body is the 17 letters of the cap shorter.
  expect([status, row.loweredMaxTokens, response.headers.get('x-svc-lowered-max-tokens')]).toEqual([200, 117, '117'])
  expect(headersOf(response)).toEqual([String(ONE), '0', '1m0s'])
  expect(headersOf((await gateway.ask(CAPPED)).response)).toEqual([null, null, null])
})

test('a request beyond the whole limit is told so, not to try again, and which cap has room', async () => {
  const { status, error, response, key, secret } = await gateway.ask({ max_tokens: 900 }, { tpm: ONE })
  expect([status, error.code]).toEqual([429, 'token_rate_limit_exceeded'])
  expect([response.headers.get('x-should-retry'), response.headers.get('retry-after')]).toEqual(['false', null])
  const cap = Number(/max_tokens of at most (\d+)/.exec(error.message ?? '')?.[1])
  for (const said of [`limited to ${ONE} tokens per minute`, `up to ${ONE + 800}`, 'higher limit'])
    expect(error.message).toContain(said)
  expect(key.counts.dailyLimit).toEqual({})
  expect((await gateway.post(secret, { ...HELLO, max_tokens: cap })).status).toBe(200)
  const hopeless = await gateway.ask(CAPPED, { tpm: 20 })
  expect(hopeless.error.message).toContain('no output')
})

test('a list of models takes no tokens, and a caller sees what is left by introspection and quotes', async () => {
  const { key, secret } = await gateway.ask(CAPPED, { tpm: ONE, scopes: ['chat.completions', 'models.read'] })
  // The instance that answered knows the key from before its tokens came back.
  const { messages, model } = HELLO
  const counting = await gateway.post(secret, { model, messages }, {}, '/v1/messages/count_tokens')
  expect([counting.status, headersOf(counting)[1]]).toEqual([200, String(ONE - 15)])
  expect((await gateway.get(secret, '/v1/models')).status).toBe(200)
  expect(await stillTaken(key.id)).toBe(15n)
  const { limits } = (await (await gateway.get(secret, '/v1/key/introspect')).json()) as { limits: object }
  expect(limits).toMatchObject({ tpm: { limit: ONE, remaining: ONE - 15, reset: 60 } })
  const quote = await (
    await gateway.post(secret, { endpoint: '/v1/chat/completions', body: CAPPED }, {}, '/v1/quote')
  ).json()
  expect(quote).toMatchObject({
    output_tokens: { covered: { tpm: 85 } },
    hold: null,
    refusal: { status: 429, code: 'token_rate_limit_exceeded' },
  })
})
