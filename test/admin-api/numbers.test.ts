import { describe, expect, test } from '@jest/globals'
import type { RequestLine } from '../../layers/admin/api/shapes/requests.ts'
import type { Overview, UsagePage } from '../../layers/admin/api/shapes/usage.ts'
import { utcDay } from '../../layers/gateway/domain/basics/time.ts'
import { DayCounter, type DayTotal, isSameTotal } from '../../layers/gateway/domain/rows/day-total.ts'
import { completedRow } from '../support/completed-row.ts'
import { HELLO, type TestGateway } from '../support/gateway.ts'
import { requestIdAt } from '../support/request-id.ts'
import { openBoth } from '../support/stack.ts'
import { type Reply, say, status } from '../support/upstream.ts'
import { adminOf } from './support/admin.ts'

async function opened(reply: Reply = say('Hello')) {
  const { gateway, upstream } = await openBoth()
  upstream.reply = reply
  const { secret, key } = await gateway.issue({ rpm: 60_000 })
  const { call } = adminOf(gateway.tables)
  const overview = async () => (await call<Overview>('GET /overview')).body
  const lines = async (query = '') => (await call<{ data: RequestLine[] }>(`GET /requests?${query}`)).body.data
  const usage = async (query = '') => (await call<UsagePage>(`GET /usage?${query}`)).body
  const numbers = async () => {
    const { range, requests_today, routes } = await overview()
    const { requests, errors, refused, failed, broken } = range
    const [{ requests_24h = 0, failures_24h = 0, refused_24h = 0, resting_until } = {}] = routes
    return {
      requests,
      errors,
      refused,
      failed,
      broken,
      requests_today,
      requests_24h,
      failures_24h,
      refused_24h,
      resting_until,
    }
  }
  return { gateway, upstream, secret, key, call, overview, lines, usage, numbers }
}

const many = (times: number, ask: () => Promise<Response>) => Promise.all(Array.from({ length: times }, ask))
const metricsIn = (gateway: TestGateway, name: string) =>
  gateway.logged().reduce((sum, line) => sum + Number(line[name] ?? 0), 0)

describe('whose fault it was', () => {
  test('60 calls with a misspelled field are no attempts, and leave every provider’s failures at 0', async () => {
    const { gateway, upstream, secret, call, lines, usage, numbers } = await opened()
    const answers = await many(60, () => gateway.post(secret, { ...HELLO, temprature: 1 }))
    expect(new Set(answers.map((answer) => [answer.status, answer.headers.get('x-svc-attempts')].join()))).toEqual(
      new Set(['400,']),
    )
    const none = { requests_24h: 0, failures_24h: 0, refused_24h: 0, resting_until: null }
    expect(await numbers()).toMatchObject({ requests: 60, errors: 60, refused: 60, failed: 0, broken: 0, ...none })
    expect((await usage()).total).toMatchObject({ requests: 60, completed: 0, refused: 60, failed: 0, broken: 0 })
    expect(upstream.requests).toHaveLength(0)
    const [line] = await lines()
    const { body } = await call(`GET /requests/${line?.request_id}`)
    expect(body.attempts).toEqual([])
    expect(JSON.stringify(body.explanation)).toContain('refused before it went to a model')
    const figures = ['Refusals', 'UpstreamErrors', 'ServerErrors', 'UpstreamFailures', 'CredentialFailures']
    expect(figures.map((name) => metricsIn(gateway, name))).toEqual([60, 0, 0, 0, 0])
  })

  test.each(['internal_error', 'service_unavailable', 'upstream_timeout', 'key_busy', 'constructor'])(
    'an upstream that calls its 400 %s has no say in whose fault that is',
    async (code) => {
      const { gateway, secret, numbers } = await opened(status(400, { error: { message: 'x', code } }))
      expect((await gateway.post(secret, HELLO)).status).toBe(400)
      expect(await numbers()).toMatchObject({ requests: 1, refused: 1, failed: 0, broken: 0, refused_24h: 1 })
      const figures = ['Refusals', 'UpstreamErrors', 'ServerErrors', 'KeyBusy']
      expect(figures.map((name) => metricsIn(gateway, name))).toEqual([1, 0, 0, 0])
    },
  )

  test.each<[string, Reply, object, string, RegExp]>([
    [
      'a 400 of its own is the caller’s',
      status(400, { error: { message: 'x' } }),
      { refused: 1, refused_24h: 1 },
      'Refusals',
      /refused by the upstream/,
    ],
    [
      'a 500 is the provider’s',
      status(500, {}),
      { failed: 1, failures_24h: 1 },
      'UpstreamErrors',
      /no provider accepted it/,
    ],
  ])('an upstream that answers is asked, and %s', async (_, reply, counted, metric, explained) => {
    const { gateway, secret, call, lines, numbers } = await opened(reply)
    await gateway.post(secret, HELLO)
    const none = {
      requests: 1,
      errors: 1,
      refused: 0,
      failed: 0,
      broken: 0,
      requests_24h: 1,
      failures_24h: 0,
      refused_24h: 0,
    }
    expect(await numbers()).toMatchObject({ ...none, ...counted })
    expect(['Refusals', 'UpstreamErrors', 'ServerErrors'].filter((name) => metricsIn(gateway, name))).toEqual([metric])
    const [line] = await lines()
    const { body } = await call(`GET /requests/${line?.request_id}`)
    expect(body.attempts).toHaveLength(1)
    expect(JSON.stringify(body.explanation)).toMatch(explained)
    expect(JSON.stringify(body.explanation)).not.toMatch(/was not asked|before it went/)
  })

  test('a code under which errors are counted finds their rows', async () => {
    const { gateway, secret, overview, lines } = await opened(status(400, { error: { message: 'x', code: 'its_own' } }))
    await gateway.post(secret, HELLO)
    await gateway.post(secret, { ...HELLO, temprature: 1 })
    const { errors } = await overview()
    expect(errors.map(({ code }) => code)).toContain('other')
    for (const { code, requests } of errors) expect(await lines(`error_code=${code}`)).toHaveLength(requests)
    expect(await lines('error_code=its_own')).toHaveLength(1)
  })
})

describe('calls that ask no model', () => {
  test('60 polls of the balance and a quote leave the Overview, lists and sums as they were, and are seen when asked for', async () => {
    const { gateway, secret, key, lines, usage, numbers } = await opened()
    for (let i = 0; i < 3; i++) expect((await gateway.post(secret, HELLO)).status).toBe(200)
    const before = await numbers()
    await many(60, () => gateway.get(secret, '/v1/credits'))
    const quote = { endpoint: '/v1/chat/completions', body: HELLO }
    expect((await gateway.post(secret, quote, {}, '/v1/quote')).status).toBe(200)
    expect((await gateway.get(secret, '/v1/nowhere')).status).toBe(404)
    expect(await numbers()).toEqual(before)
    expect(metricsIn(gateway, 'Requests')).toBe(3)
    for (const query of ['limit=3', `limit=3&key_id=${key.id}`, 'limit=3&model=test-model']) {
      expect((await lines(query)).map(({ endpoint }) => endpoint)).toEqual(Array(3).fill('chat.completions'))
    }
    expect(await lines('calls=all&limit=100')).toHaveLength(65)
    expect(await lines('endpoint=credits&limit=100')).toHaveLength(60)
    for (const whose of ['', `key_id=${key.id}&`]) {
      const { total, groups } = await usage(`${whose}group_by=model`)
      expect([total.requests, total.completed, total.calls, groups.length]).toEqual([3, 3, 62, 1])
      const all = await usage(`${whose}group_by=model&calls=all`)
      expect(all.groups.map(({ group, calls }) => [group, calls]).toSorted()).toEqual([
        ['-', 61],
        ['test-model', 1],
      ])
      const filtered = await usage(`${whose}group_by=model&calls=all&status=200`)
      const inBuckets = filtered.data.flatMap(({ results }) => results.map(({ group }) => group))
      expect(inBuckets.toSorted()).toEqual(['-', 'test-model'])
    }
    const own = async (query: string) =>
      (await (await gateway.get(secret, `/v1/usage${query}`)).json()) as { data: object[] }
    expect((await own('')).data).toHaveLength(3)
    expect(await own('?group=model')).toMatchObject({
      data: [{ model: 'test-model', requests: 3 }],
      total: { requests: 3 },
    })
    expect((await own('?calls=all&limit=100')).data.length).toBeGreaterThan(60)
    const wrong = await gateway.get(secret, '/v1/usage?calls=none')
    expect([wrong.status, await wrong.json()]).toMatchObject([400, { error: { param: 'calls' } }])
  })

  test('a flood of refused polls is not told by the next request for a model', async () => {
    const { gateway, key, numbers } = await opened()
    const { secret } = await gateway.issue({ rpm: 1 })
    expect((await gateway.post(secret, HELLO)).status).toBe(200)
    await many(150, () => gateway.get(secret, '/v1/credits'))
    await gateway.post(secret, HELLO)
    expect([key.status, await numbers()]).toMatchObject(['active', { requests: 2, refused: 1 }])
  })

  test('a total of a day from before they were counted apart is still that of its rows, and a wrong one is not', () => {
    const [keyId, startedAtMs] = ['key_a', Date.UTC(2026, 10, 1)]
    const row = (n: number) =>
      completedRow({ requestId: requestIdAt(startedAtMs + n), keyId, startedAtMs, cost: 0n, hold: 0n })
    const counter = new DayCounter(keyId, utcDay(startedAtMs))
    for (let n = 0; n < 5; n++) counter.add(n < 3 ? { ...row(n), endpoint: 'credits' } : row(n))
    const total = counter.total()
    const changed = (changes: object): DayTotal => ({
      ...total,
      parts: total.parts.map((part) => ({ ...part, ...changes })),
    })
    const [part] = total.parts
    expect([total.parts.length, part?.requests, part?.completed, part?.calls]).toEqual([1, 2, 2, 3])
    expect(isSameTotal(changed({ requests: 5, completed: 5, calls: 0 }), total)).toBe(true)
    for (const wrong of [
      { requests: 4, calls: 0 },
      { requests: 3 },
      { completed: 1 },
      { promptTokens: 1 },
      { cost: 1n },
    ])
      expect([wrong, isSameTotal(changed(wrong), total)]).toEqual([wrong, false])
  })
})
