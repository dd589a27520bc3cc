import { describe, expect, test } from '@jest/globals'
import { firstToRunDry } from '../../layers/admin/api/overview.ts'
import type { RequestLine } from '../../layers/admin/api/shapes/requests.ts'
import type { Overview, UsagePage } from '../../layers/admin/api/shapes/usage.ts'
import { DAY_MS, isoTime, makeRequestId } from '../../layers/gateway/domain/basics/time.ts'
import type { Key } from '../../layers/gateway/domain/keys/key.ts'
import { formatCredits } from '../../layers/gateway/domain/money/money.ts'
import { isRequest, type UsageRow } from '../../layers/gateway/domain/rows/usage-row.ts'
import { takeAdmission } from '../../layers/gateway/store/admission/take-admission.ts'
import { readKey } from '../../layers/gateway/store/keys/read-key.ts'
import { ROW_SHARDS } from '../../layers/gateway/store/rows/usage-item.ts'
import { Random } from '../simulation/random.ts'
import { completedRow } from '../support/completed-row.ts'
import { demandOf } from '../support/demand.ts'
import { HELLO, openTestTables } from '../support/gateway.ts'
import { intercept } from '../support/intercept.ts'
import { jsonLines } from '../support/json-lines.ts'
import { closerAt, randomRow, randomRows, usedKey } from '../support/past-usage.ts'
import { openBoth } from '../support/stack.ts'
import { adminOf, walk } from './support/admin.ts'

const NOW = Date.parse('2026-11-15T12:00:00Z')
const FIRST = NOW - 4.5 * DAY_MS
const tables = await openTestTables()
const random = new Random(7)

const FREE = { cost: 0n, usageSource: 'none', model: undefined, provider: undefined, upstreamCost: undefined } as const
const OF_NO_MODEL = { ...FREE, endpoint: 'models', attempts: [] } as const

/** Every ninth for no model. */
const mixedRows = (keyId: string) =>
  randomRows(random, keyId, FIRST, 4.5, 40).map((row, n) => (n % 9 === 0 ? { ...row, ...OF_NO_MODEL } : row))

/** Two that began in the same millisecond. */
const twinRows = (keyId: string) =>
  [1, 2].map((byte) => {
    const requestId = makeRequestId(NOW - 5000, new Uint8Array(10).fill(byte))
    return { ...completedRow({ requestId, keyId, startedAtMs: NOW - 5000, cost: 7n, hold: 9n }), model: 'small' }
  })

/** Keys with rows of five days, of which those before yesterday are closed. */
const used: Awaited<ReturnType<typeof usedKey>>[] = []
for (const [i, rowsOf] of [mixedRows, mixedRows, mixedRows, twinRows].entries()) {
  used.push(await usedKey(tables, FIRST + i, rowsOf))
}
const calls = used.flatMap((one) => one.rows)
const rows = calls.filter(isRequest)
const keyIds = used.map(({ key }) => key.id)
await closerAt(tables, () => NOW).run()
const admin = adminOf(tables, { clock: () => NOW + 120_000 })

const sumOf = (some: readonly UsageRow[]) => formatCredits(some.reduce((sum, { cost }) => sum + cost, 0n))
function middleOf<Name extends 'cost' | 'durationMs'>(name: Name): UsageRow[Name] {
  const values = rows.map((row) => row[name]).sort((a, b) => (a < b ? -1 : 1))
  return values[Math.floor(values.length / 2)] as UsageRow[Name]
}
const dayOf = ({ startedAtMs }: UsageRow) => new Date(startedAtMs).toISOString().slice(0, 10)
const newestFirst = (a: UsageRow, b: UsageRow) => b.startedAtMs - a.startedAtMs || (a.requestId > b.requestId ? -1 : 1)

describe('GET /admin/v1/requests', () => {
  const FILTERS: [string, () => string, (row: UsageRow) => boolean][] = [
    ['of all keys', () => '', () => true],
    ['of one key', () => `key_id=${keyIds[0]}`, (row) => row.keyId === keyIds[0]],
    ['of one outcome', () => 'outcome=refused', (row) => row.outcome === 'refused'],
    ['of one model', () => 'model=small', (row) => row.model === 'small'],
    ['of one status', () => 'status=200', (row) => row.httpStatus === 200],
    ['of a class of status', () => 'status=4xx', (row) => row.httpStatus >= 400 && row.httpStatus < 500],
    ['that were not completed', () => 'status=error', (row) => row.outcome !== 'completed'],
    ['that a model was to answer and all others', () => 'calls=all', () => true],
    ['of an endpoint that asks no model', () => 'endpoint=models', (row) => row.endpoint === 'models'],
    ['of one kind of answer', () => 'stream=false', (row) => !row.stream],
    [
      'of some cost',
      () => `cost_from=${formatCredits(middleOf('cost'))}&cost_to=1000`,
      (row) => row.cost >= middleOf('cost'),
    ],
    [
      'of some duration',
      () => `duration_from=1&duration_to=${middleOf('durationMs')}`,
      (row) => row.durationMs >= 1 && row.durationMs <= middleOf('durationMs'),
    ],
    ['of a range', () => 'to=2026-11-13T06:00:00Z', (row) => row.startedAtMs < Date.parse('2026-11-13T06:00:00Z')],
  ]
  test.each(FILTERS)(
    'lists the requests %s newest first, each once, in pages of any size',
    async (_, query, matches) => {
      const expected = (/calls|endpoint/.test(query()) ? calls : rows)
        .filter(matches)
        .sort(newestFirst)
        .map(({ requestId }) => requestId)
      expect(expected.length).toBeGreaterThan(5)
      for (const limit of [3, 100]) {
        const route = `GET /requests?from=2026-11-01&limit=${limit}&${query()}`
        const lines = await Array.fromAsync(walk<RequestLine>(admin, route))
        expect(lines.map((line) => line.request_id)).toEqual(expected)
        expect((await admin.call(route)).body.data.length).toBeLessThanOrEqual(limit)
      }
    },
  )

  test('has the last 24 hours, or all of one key, unless a range is given, with the names of keys and decimal strings', async () => {
    const { body } = await admin.call('GET /requests?limit=100')
    const expected = rows.filter(({ startedAtMs }) => startedAtMs >= NOW + 120_000 - DAY_MS).sort(newestFirst)
    expect(body.data.map((line: RequestLine) => line.request_id)).toEqual(expected.map(({ requestId }) => requestId))
    expect(body.data[0]).toMatchObject({ object: 'request.line', key_name: 'past', cost: '0.000000007' })
    const { body: ofKey } = await admin.call(`GET /requests?limit=100&key_id=${keyIds[0]}`)
    expect(ofKey.data.length).toBe(rows.filter(({ keyId }) => keyId === keyIds[0]).length)
  })

  test('a page that fits into the last two days is a query for each partition of these, and none of older ones', async () => {
    const queries: string[] = []
    const stop = intercept(tables, (send, operation) => {
      queries.push(operation)
      return send()
    })
    await admin.call('GET /requests?from=2026-11-01&limit=3')
    stop()
    expect(queries.filter((operation) => operation === 'Query').length).toBeLessThanOrEqual(2 * ROW_SHARDS)
  })

  test('of many keys reads a few rows of each partition, in the order of ids', async () => {
    const many = await openTestTables()
    const random = new Random(8)
    const used = await Promise.all(
      Array.from({ length: 12 }, (_, i) => {
        // The first key has bursts of a millisecond, the newest of all.
        const at = () => (i === 0 ? NOW - random.below(4) : NOW - 10 - random.below(DAY_MS / 3))
        return usedKey(many, FIRST + i, (keyId) => Array.from({ length: 16 }, () => randomRow(random, keyId, at())))
      }),
    )
    const expected = used.flatMap((one) => one.rows).sort(newestFirst)
    let read = 0
    intercept(many, async (send) => {
      const answer = (await send()) as { Items?: { requestId?: string }[] }
      read += answer.Items?.filter(({ requestId }) => requestId).length ?? 0
      return answer
    })
    const call = adminOf(many, { clock: () => NOW }).call
    const ids = ({ body }: { body: { data: RequestLine[] } }) => body.data.map((line) => line.request_id)
    const first = await call('GET /requests?limit=10')
    expect(ids(first)).toEqual(expected.slice(0, 10).map(({ requestId }) => requestId))
    // Eight at a time of each partition of the day.
    expect(read).toBeLessThanOrEqual(2 * 8 * ROW_SHARDS)
    const second = await call(`GET /requests?limit=100&after=${first.body.last_id}`)
    expect(ids(second)).toEqual(expected.slice(10, 110).map(({ requestId }) => requestId))
  })

  test('is a CSV file of every row of the range for who accepts text/csv', async () => {
    const path = 'GET /requests?from=2026-11-01&outcome=completed'
    const { headers, text } = await admin.call(path, { headers: { accept: 'text/csv' } })
    expect(headers).toMatchObject({ 'Content-Type': 'text/csv; charset=utf-8' })
    const [heading, ...lines] = text.trimEnd().split('\r\n')
    expect(heading).toMatch(/^requestId,keyId,startedAt,/)
    const completed = rows.filter(({ outcome }) => outcome === 'completed').map(({ requestId }) => requestId)
    expect(lines.map((line) => line.split(',')[0]).sort()).toEqual(completed.sort())
  })

  test('is a line of JSON for every row of the range for who accepts application/x-ndjson, oldest first within a key', async () => {
    const path = `GET /requests?from=2026-11-01&key_id=${keyIds[0]}`
    const { headers, text } = await admin.call(path, { headers: { accept: 'application/x-ndjson' } })
    expect(headers).toMatchObject({ 'Content-Type': 'application/x-ndjson' })
    const lines = text.trimEnd().split('\n')
    const own = rows.filter(({ keyId }) => keyId === keyIds[0]).sort(newestFirst)
    expect(lines.map((line) => JSON.parse(line).request_id)).toEqual(own.map(({ requestId }) => requestId).reverse())
    const first = own.at(-1)
    const told = { object: 'usage', key_id: keyIds[0], cost: formatCredits(first?.cost ?? 0n) }
    expect(JSON.parse(lines[0] ?? '')).toMatchObject(told)
    expect(lines[0]).not.toMatch(/"(upstream_cost|upstream_cost_source|loss|margin)"/)
    const withCost = await admin.call(`${path}&with_cost=true`, { headers: { accept: 'application/x-ndjson' } })
    expect(JSON.parse(withCost.text.split('\n')[0] ?? '')).toMatchObject({
      ...told,
      upstream_cost: first?.upstreamCost === undefined ? null : formatCredits(first.upstreamCost),
    })
  })
})

describe('GET /admin/v1/usage', () => {
  const GROUPS = {
    model: ({ model }: UsageRow) => model ?? '-',
    key: ({ keyId }: UsageRow) => keyId,
    provider: ({ provider }: UsageRow) => provider ?? '-',
    day: dayOf,
  }
  const groupsOf = (some: readonly UsageRow[], group: keyof typeof GROUPS) => Map.groupBy(some, GROUPS[group])
  const BY = (['model', 'key', 'provider'] as const).flatMap((group) => [
    [group, '1d'] as const,
    [group, '1h'] as const,
  ])

  test.each(BY)(
    'by %s in buckets of %s, each is the sum of its rows, of all keys and of one',
    async (group, bucket) => {
      const [from, charsOfBucket, buckets] = bucket === '1d' ? ['2026-11-10', 10, 6] : ['2026-11-14', 13, 48]
      for (const own of [undefined, keyIds[0]]) {
        const of = own === undefined ? '' : `&key_id=${own}`
        const path = `GET /usage?bucket=${bucket}&group_by=${group}&from=${from}&to=2026-11-16${of}`
        const { body } = await admin.call<UsagePage>(path)
        expect([body.object, body.group_by, body.data.length]).toEqual(['page', group, buckets])
        for (const { start_time, results } of body.data) {
          const start = start_time.slice(0, Number(charsOfBucket))
          const within = rows.filter(
            ({ keyId, startedAtMs }) => (own === undefined || keyId === own) && isoTime(startedAtMs).startsWith(start),
          )
          const expected = [...groupsOf(within, group)].map(([name, some]) => [name, some.length, sumOf(some)])
          expect(results.map(({ group: name, requests, cost }) => [name, requests, cost]).sort()).toEqual(
            expected.sort(),
          )
        }
      }
    },
  )

  test.each(['model', 'key', 'provider', 'day'] as const)(
    'by %s, the groups and the total are the sums of the rows, and closed days are told',
    async (group) => {
      const { body } = await admin.call<UsagePage>(`GET /usage?group_by=${group}&from=2026-11-10&to=2026-11-16`)
      expect(body.data.map(({ closed }) => closed)).toEqual([true, true, true, true, true, false])
      expect([body.total.requests, body.total.cost]).toEqual([rows.length, sumOf(rows)])
      const groups = groupsOf(rows, group)
      expect(body.groups).toHaveLength(groups.size)
      for (const { group: name, requests, cost, label } of body.groups) {
        const own = groups.get(name) ?? []
        expect([requests, cost, label]).toEqual([own.length, sumOf(own), group === 'key' ? 'past' : name])
      }
      if (group === 'day') expect(body.groups.map(({ group: day }) => day)).toEqual([...groups.keys()].sort())
      else expect(body.groups[0]?.share).toBe(1000)
      const highest = Math.max(...body.data.map(({ results }) => results.reduce((sum, { share }) => sum + share, 0)))
      expect(highest).toBeLessThanOrEqual(1000)
      expect(highest).toBeGreaterThan(1000 - 20)
    },
  )

  test('with top=1 a bucket tells the dearest group of the range, and the others together; the groups are all', async () => {
    const path = 'GET /usage?group_by=key&from=2026-11-10&to=2026-11-16'
    const { body: whole } = await admin.call<UsagePage>(path)
    const { body } = await admin.call<UsagePage>(`${path}&top=1`)
    expect([body.groups, body.total]).toEqual([whole.groups, whole.total])
    const nameOf = (group: string) => (group === whole.groups[0]?.group ? group : '(others)')
    const expected = whole.data.map(({ results }) => {
      const named = Map.groupBy(results, ({ group }) => nameOf(group))
      return [...named].map(([name, some]) => [name, some.reduce((sum, { requests }) => sum + requests, 0)]).sort()
    })
    expect(expected.flat().length).toBeGreaterThan(6)
    expect(body.data.map(({ results }) => results.map(({ group, requests }) => [group, requests]).sort())).toEqual(
      expected,
    )
  })

  test('30 days of all keys, of which all but today are added up, are a query a day, and of today one for its hours and eight for the rest', async () => {
    const queries: unknown[] = []
    const ofItsOwn = { ...tables, database: { ...tables.database } }
    intercept(ofItsOwn, (send, operation, input) => {
      if (operation === 'Query') queries.push(input)
      return send()
    })
    const began = adminOf(ofItsOwn, { clock: () => NOW + 120_000 })
    await began.call('GET /usage?from=2026-10-17&to=2026-11-16')
    expect(queries).toHaveLength(29 + 1 + ROW_SHARDS)
    for (const query of queries) {
      expect(query).toMatchObject({ ConsistentRead: true })
      expect(query).not.toHaveProperty('IndexName')
    }
  })
})

test('the overview adds up what the rows say: today, seven days, errors, keys, and those that run dry first', async () => {
  const { body } = await admin.call<Overview>('GET /overview')
  const today = rows.filter((row) => dayOf(row) === '2026-11-15')
  expect(body).toMatchObject({
    object: 'overview',
    spent_today: sumOf(today),
    requests_today: today.length,
    spent_7_days: sumOf(rows),
    keys: { active: 4, expired: 0, revoked: 0 },
    last_audit: null,
    routes: [],
  })
  const failed = rows.filter((row) => dayOf(row) >= '2026-11-14' && row.errorCode !== undefined)
  expect(body.errors.reduce((sum, { requests }) => sum + requests, 0)).toBe(failed.length)
  expect(body.low).toEqual([])
})

test.each([
  ['hours', '2026-11-13T06:20:00Z', '2026-11-15T03:10:00Z'],
  ['days', '2026-11-11', '2026-11-15'],
])(
  'the overview of a range by %s has its numbers, those before it, a series, and the keys and models that were charged the most',
  async (step, from, to) => {
    const { body } = await admin.call<Overview>(`GET /overview?from=${from}&to=${to}`)
    const [fromMs, toMs] = [body.range.from, body.range.to].map((text) => Date.parse(text)) as [number, number]
    const within = (lowMs: number, highMs: number) =>
      rows.filter(({ startedAtMs }) => startedAtMs >= lowMs && startedAtMs < highMs)
    const inRange = within(fromMs, toMs)
    const figures = (some: readonly UsageRow[]) => ({
      requests: some.length,
      errors: some.filter(({ outcome }) => outcome !== 'completed').length,
      cost: sumOf(some),
    })
    expect(inRange.length).toBeGreaterThan(3)
    expect(body.range).toMatchObject(figures(inRange))
    expect(body.before).toMatchObject(figures(within(2 * fromMs - toMs, fromMs)))
    const stepMs = step === 'hours' ? 3_600_000 : DAY_MS
    expect(body.series.map(({ start_time: start, requests, cost }) => [start, requests, cost])).toEqual(
      [...Map.groupBy(inRange, ({ startedAtMs }) => Math.floor(startedAtMs / stepMs) * stepMs)]
        .sort(([a], [b]) => a - b)
        .map(([ms, some]) => [isoTime(ms), some.length, sumOf(some)]),
    )
    for (const [entries, field] of [
      [body.top_keys, 'keyId'],
      [body.top_models, 'model'],
    ] as const) {
      for (const { id, name: _, ...entry } of entries) {
        expect(entry).toMatchObject(figures(inRange.filter((row) => row[field] === id)))
      }
      const costs = entries.map(({ cost }) => Number(cost))
      expect(costs).toEqual(costs.toSorted((a, b) => b - a))
    }
  },
)

test.each(['from=9999-01-01&to=9999-12-31', 'from=1970-01-01&to=1970-12-31'])(
  'the overview of ?%s has nothing, before it neither, and reads no rows of days that cannot have any',
  async (query) => {
    const { body } = await admin.call<Overview>(`GET /overview?${query}`)
    expect([body.range.requests, body.series]).toEqual([0, []])
  },
)

test('the overview names those that have nothing left or will have spent it within a week, the first to run dry first', async () => {
  const key = (await readKey(tables)(keyIds[0] ?? '')) as Key
  const keys = [
    { ...key, id: 'rich', available: 100n },
    { ...key, id: 'poor', available: 3n },
    { ...key, id: 'empty', available: 0n },
    { ...key, id: 'poorer', available: 2n },
    { ...key, id: 'idle', available: 0n },
  ]
  const costs = new Map(['rich', 'poor', 'empty', 'poorer'].map((id) => [id, 5n]))
  const balanceOf = ({ id, available }: Key) => ({ available, weekCost: costs.get(id) ?? 0n })
  expect(firstToRunDry(keys, balanceOf).map(({ id }) => id)).toEqual(['empty', 'idle', 'poorer', 'poor'])
})

test('POST /admin/v1/audits tells each key as it is done, then how it ended, which the overview remembers', async () => {
  const { headers, text } = await admin.call('POST /audits')
  expect(headers['Content-Type']).toBe('application/x-ndjson')
  const lines = jsonLines(text)
  expect(lines.map(({ object }) => object)).toEqual([...keyIds.map(() => 'audit'), 'audit.summary'])
  expect(lines.at(-1)).toMatchObject({ keys: 4, wrong: 0, at: new Date(NOW + 120_000).toISOString() })
  const first = lines.find(({ key_id: keyId }) => keyId === keyIds[0])
  const own = calls.filter(({ keyId }) => keyId === keyIds[0])
  expect(first).toMatchObject({ rows: own.length, row_costs: sumOf(own), spent: sumOf(own), ok: true })
  expect((await admin.call('GET /overview')).body.last_audit).toMatchObject({ keys: 4, wrong: 0 })
  const one = await admin.call('POST /audits', { body: { key_id: keyIds[1] } })
  expect(one.text.trimEnd().split('\n').length).toBe(2)
  expect((await admin.call('GET /overview')).body.last_audit).toMatchObject({ keys: 4 })
})

const { gateway } = await openBoth()

describe('GET /admin/v1/requests/{id}', () => {
  test('tells the row, its bill in lines that add up to the charge, and the explanation of the command line', async () => {
    const { secret, key } = await gateway.issue({ name: 'acme' })
    const answer = await gateway.post(secret, HELLO)
    const id = answer.headers.get('x-request-id')
    const { body } = await adminOf(gateway.tables).call(`GET /requests/${id}`)
    expect(body).toMatchObject({ object: 'request', state: 'settled', key_id: key.id, key_name: 'acme', hold: null })
    expect(body.row).toMatchObject({
      object: 'usage',
      request_id: id,
      outcome: 'completed',
      attempts: [{ provider: 'up' }],
    })
    const amounts = body.bill.map(({ amount }: { amount: string }) => amount)
    expect(amounts.length).toBe(2)
    expect(amounts.reduce((sum: number, amount: string) => sum + Number(amount), 0)).toBeCloseTo(
      Number(body.row.cost),
      9,
    )
    const names = body.explanation.map(({ name }: { name: string }) => name)
    expect(names).toEqual(expect.arrayContaining(['request', 'charged', 'counted by', 'attempts']))
    const found = await adminOf(gateway.tables).call(`GET /search?q=${id}`)
    expect(found.body).toEqual({ object: 'search', keys: [], accounts: [], request_id: id })
  })

  test('tells a request that is still open by its hold', async () => {
    const { key } = await gateway.issue({ name: 'open' })
    const requestId = makeRequestId(Date.now(), new Uint8Array(10).fill(9))
    const nowMs = Date.now()
    const demand = demandOf(key, nowMs, { requestId, hold: 5n })
    expect(await takeAdmission(gateway.tables)(key, demand)).toMatchObject({ admitted: true })
    const { body } = await adminOf(gateway.tables).call(`GET /requests/${requestId}`)
    expect(body).toMatchObject({ state: 'open', key_id: key.id, row: null, hold: { amount: '0.000000005' }, bill: [] })
  })

  test('is a 404 for an id that nobody has, and for what is no id', async () => {
    const unknown = makeRequestId(Date.now(), new Uint8Array(10).fill(8))
    for (const id of [unknown, 'DAY#CLOSING', 'DAY', 'req_1']) {
      expect((await adminOf(gateway.tables).call(`GET /requests/${encodeURIComponent(id)}`)).status).toBe(404)
    }
  })
})

test('the CSV of requests has the names of keys and accounts, and what they cost us only if that is asked for', async () => {
  const account = await gateway.openAccount({ name: 'firm' })
  const { key, secret } = await gateway.issue({ name: 'acme', account })
  await gateway.post(secret, HELLO)
  const admin = adminOf(gateway.tables)
  const csv = async (more = '') => {
    const headers = { accept: 'text/csv' }
    const { text } = await admin.call(`GET /requests?key_id=${key.id}${more}`, { headers })
    return text.split('\r\n').map((line) => line.split(','))
  }
  const [names = [], row = []] = await csv()
  const cell = (name: string) => row[names.indexOf(name)]
  expect([cell('keyId'), cell('keyName'), cell('accountId'), cell('accountName')]).toEqual([
    ...[key.id, 'acme', account.id, 'firm'],
  ])
  const costs = ['upstreamCost', 'upstreamCostSource', 'loss']
  expect(names.filter((name) => costs.includes(name))).toEqual([])
  expect((await csv('&with_cost=true'))[0]).toEqual(expect.arrayContaining(costs))
  expect((await admin.call(`GET /requests?from=2026-13-1`)).body.error.message).toBe(
    "'from' must be a UTC day such as 2026-11-01, or a moment such as 2026-11-01T12:30:00Z, but is '2026-13-1'.",
  )
})
