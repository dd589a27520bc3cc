import { describe, expect, test } from '@jest/globals'
import { answerSums } from '../../functions/api/create.ts'
import { DAY_MS, HOUR_MS, isoTime, utcDay } from '../../layers/gateway/domain/basics/time.ts'
import { formatCredits } from '../../layers/gateway/domain/money/money.ts'
import { TOKEN_FIELDS } from '../../layers/gateway/domain/money/price-kinds.ts'
import { DayCounter } from '../../layers/gateway/domain/rows/day-total.ts'
import { USAGE_FIELDS, type UsageRow } from '../../layers/gateway/domain/rows/usage-row.ts'
import { revokeKey } from '../../layers/gateway/store/keys/rotate-key.ts'
import { suspendKey } from '../../layers/gateway/store/keys/suspend-key.ts'
import { putDayTotal } from '../../layers/gateway/store/rows/day-totals.ts'
import { putUsageRow } from '../../layers/gateway/store/rows/usage-rows.ts'
import { Random } from '../simulation/random.ts'
import { actAt } from '../support/act.ts'
import { completedRow } from '../support/completed-row.ts'
import { HELLO } from '../support/gateway.ts'
import { closerAt, randomRow, randomRows } from '../support/past-usage.ts'
import { requestIdAt } from '../support/request-id.ts'
import { openBoth } from '../support/stack.ts'
import { say } from '../support/upstream.ts'

const NOW = Date.parse('2026-11-15T12:00:00Z')
const FIRST = NOW - 4.5 * DAY_MS
let nowMs = FIRST
const { upstream, gateway } = await openBoth({ clock: () => nowMs })
const random = new Random(11)

/** A key that was made days ago, with rows, and another one beside it. */
const mine = await used((keyId) => randomRows(random, keyId, FIRST, 4.5, 90))
const other = await used((keyId) => randomRows(random, keyId, FIRST, 4.5, 10))
nowMs = NOW
await closerAt(gateway.tables, () => NOW).run()

async function used(rows: (keyId: string) => UsageRow[], madeAtMs = FIRST) {
  const before = nowMs
  nowMs = madeAtMs
  const { key, secret } = await gateway.issue({ rpm: 6000, dailyLimit: 10_000 })
  nowMs = before
  const made = rows(key.id)
  await Promise.all(made.map(putUsageRow(gateway.tables)))
  return { secret, keyId: key.id, rows: made }
}

type Body = { data: Record<string, unknown>[]; [name: string]: unknown }

async function ask(secret: string, query: string): Promise<Body> {
  const response = await gateway.get(secret, `/v1/usage${query}`)
  const body = await response.json()
  expect([response.status, body]).toEqual([200, body])
  expect(response.headers.get('x-svc-cost')).toBe('0')
  return body as Body
}

const idsIn = (body: Body) => body.data.map(({ request_id }) => String(request_id))
const newestFirst = (rows: readonly UsageRow[]) =>
  rows
    .map(({ requestId }) => requestId)
    .toSorted()
    .reverse()
/** The calls that these tests make leave rows, too, from NOW on. */
const PAST = `to=${isoTime(NOW)}`

describe('the list', () => {
  test('GET /v1/usage lists the key’s own rows, the newest first, as GET /v1/usage/{id} shows them, and never the cost to the operator', async () => {
    const body = await ask(mine.secret, `?${PAST}&limit=100`)
    expect(idsIn(body)).toEqual(newestFirst(mine.rows))
    expect(body).toMatchObject({ object: 'list', has_more: false, last_id: newestFirst(mine.rows).at(-1) })
    const one = await (await gateway.get(mine.secret, `/v1/usage/${idsIn(body)[0]}`)).json()
    expect(body.data[0]).toEqual(one)
    expect(mine.rows.some(({ upstreamCost }) => upstreamCost !== undefined)).toBe(true)
    expect(JSON.stringify(body)).not.toMatch(/upstream_?cost|margin/i)
    expect(await ask(mine.secret, `/?${PAST}`)).toMatchObject({ object: 'list', has_more: true })
    expect((await ask(mine.secret, `?${PAST}`)).data).toHaveLength(20)
  })

  test('a model and a range filter the list, and the end of the range is not in it', async () => {
    const [first, last] = [mine.rows[0], mine.rows[1]].map((row) => row?.startedAtMs ?? 0).toSorted((a, b) => a - b)
    const wanted = mine.rows.filter(({ startedAtMs: at }) => at >= Number(first) && at < Number(last))
    const query = `?from=${isoTime(Number(first))}&to=${isoTime(Number(last))}&limit=100`
    expect(idsIn(await ask(mine.secret, query))).toEqual(newestFirst(wanted))
    const large = mine.rows.filter(({ model }) => model === 'large')
    expect(idsIn(await ask(mine.secret, `?${PAST}&model=large&limit=100`))).toEqual(newestFirst(large))
  })

  test('pages have every row once while rows are added, several of one millisecond among them', async () => {
    const at = NOW - HOUR_MS
    const walked = await used((keyId) => [
      ...randomRows(random, keyId, NOW - DAY_MS, 1, 30),
      ...Array.from({ length: 9 }, () => randomRow(random, keyId, at)),
    ])
    const put = putUsageRow(gateway.tables)
    const seen: string[] = []
    for (let after = ''; ; ) {
      const body = await ask(walked.secret, `?${PAST}&limit=4${after}`)
      seen.push(...idsIn(body))
      if (!body.has_more) break
      after = `&after=${body.last_id}`
      // One that is newer than every page, and does not belong to this walk.
      await put(randomRow(random, walked.keyId, NOW - 1))
    }
    const before = seen.filter((id) => walked.rows.some(({ requestId }) => requestId === id))
    expect(before).toEqual(newestFirst(walked.rows))
    expect(new Set(seen).size).toBe(seen.length)
  })

  test('a filter that few rows pass reads a bounded number of rows, and the next page goes on from there', async () => {
    const busy = await used((keyId) => [
      { ...randomRow(random, keyId, NOW - 2 * HOUR_MS), model: 'rare' },
      ...Array.from({ length: 2_050 }, (_, i) => plainRow(keyId, NOW - HOUR_MS + i)),
    ])
    const page = await ask(busy.secret, `?${PAST}&model=rare`)
    expect([page.data.length, page.has_more]).toEqual([0, true])
    const next = await ask(busy.secret, `?${PAST}&model=rare&after=${page.last_id}`)
    expect([idsIn(next), next.has_more]).toEqual([[busy.rows[0]?.requestId], false])
  })

  test('the rows, ids and cursors of another key give none of its rows', async () => {
    const theirs = newestFirst(other.rows)
    const ids = await Promise.all(
      ['', ...theirs.map((id) => `&after=${id}`)].map(async (after) =>
        idsIn(await ask(mine.secret, `?limit=100${after}`)),
      ),
    )
    expect(ids.flat().filter((id) => theirs.includes(id))).toEqual([])
    expect(ids.flat().length).toBeGreaterThan(0)
    for (const id of theirs) {
      const answer = await gateway.get(mine.secret, `/v1/usage/${id}`)
      expect([answer.status, await answer.json()]).toMatchObject([404, { error: { code: 'not_found' } }])
    }
  })
})

/** A row that asks for little to be made: many of them fill a day. */
function plainRow(keyId: string, startedAtMs: number): UsageRow {
  return completedRow({ requestId: requestIdAt(startedAtMs), keyId, startedAtMs, cost: 3n, hold: 5n })
}

const COUNTS = [...TOKEN_FIELDS, 'reasoningTokens'] as const

function sumOf(rows: readonly UsageRow[]) {
  const sum = (name: (typeof COUNTS)[number]) => rows.reduce((all, row) => all + (row[name] ?? 0), 0)
  return {
    requests: rows.length,
    completed: rows.filter(({ outcome }) => outcome === 'completed').length,
    ...Object.fromEntries(COUNTS.map((name) => [USAGE_FIELDS[name].api, sum(name)])),
    cost: formatCredits(rows.reduce((all, { cost }) => all + cost, 0n)),
    total_tokens: sum('promptTokens') + sum('completionTokens'),
  }
}

describe('sums', () => {
  test.each([
    ['of closed and open days', '2026-11-11', isoTime(NOW)],
    ['of a part of a closed day', '2026-11-11T06:00:00Z', '2026-11-12T18:00:00Z'],
  ])('sums by day and by model are those of the rows: %s', async (_, from, to) => {
    const rows = mine.rows.filter(({ startedAtMs: at }) => at >= Date.parse(from) && at < Date.parse(to))
    expect(rows.length).toBeGreaterThan(10)
    const days = await ask(mine.secret, `?group=day&from=${from}&to=${to}`)
    const names = [...new Set(rows.map(({ startedAtMs }) => utcDay(startedAtMs)))].toSorted()
    expect(days).toEqual({
      object: 'usage.sums',
      group: 'day',
      from: isoTime(Date.parse(from)),
      to: isoTime(Date.parse(to)),
      data: names.map((day) => ({ day, ...sumOf(rows.filter((row) => utcDay(row.startedAtMs) === day)) })),
      total: sumOf(rows),
      left_out: [],
    })
    const models = await ask(mine.secret, `?group=model&from=${from}&to=${to}`)
    const costs = models.data.map(({ cost }) => Number(cost))
    expect(costs).toEqual(costs.toSorted((a, b) => b - a))
    for (const { model, ...figures } of models.data) {
      expect(figures).toEqual(sumOf(rows.filter((row) => (row.model ?? null) === model)))
    }
    expect(models.total).toEqual(sumOf(rows))
    const large = await ask(mine.secret, `?group=day&model=large&from=${from}&to=${to}`)
    expect(large.total).toEqual(sumOf(rows.filter(({ model }) => model === 'large')))
  })

  test('a day with more rows than a call may read is summed from its newest rows, and the rest is said and can be asked for', async () => {
    const busy = await used((keyId) => [
      ...Array.from({ length: 30 }, (_, i) => plainRow(keyId, NOW - HOUR_MS + i)),
      // The last that may be read is not the last of its millisecond.
      ...Array.from({ length: 10 }, () => plainRow(keyId, NOW - HOUR_MS - 1)),
      ...Array.from({ length: 20 }, (_, i) => plainRow(keyId, NOW - 2 * HOUR_MS + i)),
    ])
    const key = await gateway.readKey(busy.keyId)
    const range = { fromMs: NOW - 12 * HOUR_MS, toMs: NOW }
    const asked = { range, limit: 1, group: 'day' } as const
    const { total, left_out } = await answerSums(gateway.tables, key, asked, NOW, 35)
    expect([total.requests, left_out]).toEqual([40, [{ from: isoTime(range.fromMs), to: isoTime(NOW - HOUR_MS - 1) }]])
    const rest = await ask(busy.secret, `?group=day&from=${left_out[0]?.from}&to=${left_out[0]?.to}`)
    expect(rest).toMatchObject({ total: { requests: 20 }, left_out: [] })
  })

  test('a part of a closed day whose rows may be gone is left out, and a whole one is in the sums', async () => {
    const madeAtMs = NOW - 200 * DAY_MS
    const { secret, keyId } = await used(() => [], madeAtMs)
    const [day, next] = [utcDay(madeAtMs), utcDay(madeAtMs + DAY_MS)]
    const counter = new DayCounter(keyId, day)
    counter.add({ ...plainRow(keyId, madeAtMs), keptUntilMs: NOW - DAY_MS })
    await putDayTotal(gateway.tables)(counter.total())
    const whole = await ask(secret, `?group=day&from=${day}&to=${next}`)
    expect(whole).toMatchObject({ total: { requests: 1 }, left_out: [] })
    const part = await ask(secret, `?group=day&from=${day}T01:00Z&to=${next}`)
    expect(part).toMatchObject({ total: { requests: 0 }, left_out: [{ from: `${day}T01:00:00.000Z` }] })
  })
})

describe('bad queries', () => {
  const LONG = 'x'.repeat(10_000)
  const CASES: [query: string, param: string, code?: string][] = [
    ['limt=5', 'limt', 'unknown_parameter'],
    ['__proto__=5', '__proto__', 'unknown_parameter'],
    [`${LONG}=1`, 'x'.repeat(199), 'unknown_parameter'],
    ['limit=5&limit=5', 'limit'],
    ['from=2026-11-02&to=2026-11-01', 'from'],
    ['from=2026-11-01&to=2026-11-01', 'from'],
    ['from=2026-12-01', 'from'],
    ['from=2026-02-30', 'from'],
    ['from=yesterday', 'from'],
    ['to=', 'to'],
    [`to=${LONG}`, 'to'],
    ['to=1970-01-01', 'from'],
    ['from=2026-10-01', 'from'],
    ['group=day&from=2026-08-01', 'from'],
    ['limit=0', 'limit'],
    ['limit=101', 'limit'],
    ['limit=1e9', 'limit'],
    ['limit=-1', 'limit'],
    ['limit=', 'limit'],
    [`limit=${'9'.repeat(10_000)}`, 'limit'],
    ['after=garbage', 'after'],
    ['after=req_00000000000000000000000000%00', 'after'],
    [`after=${LONG}`, 'after'],
    ['model=', 'model'],
    [`model=${LONG}`, 'model'],
    ['group=week', 'group'],
    ['group=day&limit=5', 'limit'],
    ['group=day&after=req_00000000000000000000000000', 'after'],
  ]

  test.each(CASES.map((one) => [one[0].slice(0, 60), ...one] as const))(
    '?%s is a 400 with its param',
    async (_, query, param, code = 'invalid_value') => {
      const response = await gateway.get(mine.secret, `/v1/usage?${query}`)
      const { error } = (await response.json()) as { error: Record<string, string> }
      expect([response.status, error.code, error.type]).toEqual([400, code, 'invalid_request_error'])
      expect(error.param?.startsWith(param)).toBe(true)
      expect(error.message?.length).toBeLessThan(400)
    },
  )
})

describe('as other endpoints', () => {
  test.each(['/v1/usage', '/v1/usage?group=day', '/v1/usage?limit=0', '/v1/credits'])(
    'GET %s spends a token, costs nothing and leaves a row, whatever the scopes of its key',
    async (path) => {
      const { key, secret } = await gateway.issue({ rpm: 2, scopes: ['models.read'] })
      const answer = await gateway.get(secret, path)
      expect(answer.headers.get('ratelimit-remaining')).toBe('1')
      expect(await gateway.readRow(answer.headers.get('x-request-id'))).toMatchObject({
        keyId: key.id,
        endpoint: path === '/v1/credits' ? 'credits' : 'usage',
        cost: 0n,
        httpStatus: answer.status,
      })
      await gateway.get(secret, path)
      const refused = await gateway.get(secret, path)
      expect([refused.status, refused.headers.has('retry-after')]).toEqual([429, true])
    },
  )

  test.each(['/v1/usage', '/v1/credits'])(
    'GET %s is refused to keys that are unknown, revoked or suspended',
    async (path) => {
      const revoked = await gateway.issue()
      await revokeKey(gateway.tables)(revoked.key.id, actAt(nowMs))
      const suspended = await gateway.issue()
      await suspendKey(gateway.tables)(suspended.key.id, actAt(nowMs))
      const asked = ['svc_live_unknown', revoked.secret, suspended.secret].map((secret) => gateway.get(secret, path))
      expect((await Promise.all(asked)).map(({ status }) => status)).toEqual([401, 401, 403])
    },
  )

  test('GET /v1/credits has OpenRouter’s shape, in numbers with every digit', async () => {
    upstream.reply = say('Hello', { prompt_tokens: 1, completion_tokens: 1, total_tokens: 2 })
    const { secret } = await gateway.issue({ credits: '123456789.000000001' })
    const cost = (await gateway.post(secret, HELLO)).headers.get('x-svc-cost')
    const answer = await gateway.get(secret, '/v1/credits')
    expect(await answer.text()).toBe(`{"data":{"total_credits":123456789.000000001,"total_usage":${cost}}}`)
    expect(cost).toBe('0.000003')
  })
})
