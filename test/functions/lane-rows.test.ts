import { gunzipSync } from 'node:zlib'
import { describe, expect, test } from '@jest/globals'
import type { Invoices } from '../../cli/books/invoices.ts'
import { answerSums } from '../../functions/api/create.ts'
import { auditKey } from '../../layers/admin/audit/audit-key.ts'
import { DAY_MS, HOUR_MS, isoTime, utcDay } from '../../layers/gateway/domain/basics/time.ts'
import { laneAddress } from '../../layers/gateway/domain/keys/lane.ts'
import { formatCredits } from '../../layers/gateway/domain/money/money.ts'
import { sumsOf } from '../../layers/gateway/domain/rows/day-total.ts'
import { EXPORT_FOLDER } from '../../layers/gateway/domain/rows/export-line.ts'
import type { UsageRow } from '../../layers/gateway/domain/rows/usage-row.ts'
import { keyItem } from '../../layers/gateway/store/keys/key-item.ts'
import { readDayTotal } from '../../layers/gateway/store/rows/day-totals.ts'
import { rowKey } from '../../layers/gateway/store/rows/usage-item.ts'
import { adminOf, walk } from '../admin-api/support/admin.ts'
import { Random } from '../simulation/random.ts'
import { HELLO } from '../support/gateway.ts'
import { intercept } from '../support/intercept.ts'
import { jsonLines } from '../support/json-lines.ts'
import { closerAt, randomRow, usedKey } from '../support/past-usage.ts'
import { requestIdAt } from '../support/request-id.ts'
import { openBoth, openStage } from '../support/stack.ts'

/** The end of the month before this one, of which no row can have expired. */
const END_MS = Date.parse(`${utcDay(Date.now()).slice(0, 7)}-01`)
const NOW = END_MS + DAY_MS / 2
const FIRST_MS = END_MS - 3 * DAY_MS
const LANES = 32
const random = new Random(17)
const { gateway } = await openBoth({ clock: () => NOW })
const { tables } = gateway

/** A day on which one lane has more rows than are read of it at once, and two of bursts within a millisecond. */
const { key, secret, rows } = await usedKey(tables, FIRST_MS, (keyId) => [
  ...Array.from({ length: 270 }, () => ({ ...randomRow(random, keyId, FIRST_MS + random.below(DAY_MS)), lane: 31 })),
  ...Array.from({ length: 90 }, () => inSomeLane(randomRow(random, keyId, END_MS - 1 - random.below(40) * HOUR_MS))),
])
await setLanesMade(LANES)
const stage = await openStage(tables)
const admin = adminOf(tables, { clock: () => NOW })

function inSomeLane(row: UsageRow): UsageRow {
  return { ...row, lane: random.pick([undefined, 1, 7, 31]) }
}

async function setLanesMade(lanes: number): Promise<void> {
  await tables.database.update({
    TableName: tables.keys,
    Key: keyItem(key.id),
    UpdateExpression: 'SET lanesMade = :lanes, deal = :lanes, dealt = :none',
    ExpressionAttributeValues: { ':lanes': lanes, ':none': {} },
  })
}

const ids = rows.map(({ requestId }) => requestId).sort()
const cost = (some: readonly UsageRow[]) => some.reduce((sum, row) => sum + row.cost, 0n)
const all = { requests: rows.length, cost: formatCredits(cost(rows)) }
/** Calls of these tests leave rows, too, from NOW on. */
const PAST = `from=${isoTime(FIRST_MS)}&to=${isoTime(END_MS)}`

async function pagesOfCaller(): Promise<string[]> {
  const seen: string[] = []
  for (let after = '', more = true; more; ) {
    const response = await gateway.get(secret, `/v1/usage?${PAST}&limit=60${after}`)
    const body = (await response.json()) as { data: { request_id: string }[]; has_more: boolean; last_id: string }
    seen.push(...body.data.map(({ request_id }) => request_id))
    ;[after, more] = [`&after=${body.last_id}`, body.has_more]
  }
  return seen
}

/** Whatever a reader of rows tells of the key. */
async function readAll() {
  const range = { fromMs: FIRST_MS, toMs: END_MS }
  const ofKey = `key_id=${key.id}&${PAST}`
  const listed = await Array.fromAsync(walk<{ request_id: string }>(admin, `GET /requests?${ofKey}&limit=50`))
  const exported = await admin.call(`GET /requests?${ofKey}`, { headers: { accept: 'application/x-ndjson' } })
  const page = await admin.call(`GET /requests?${ofKey}&model=small&limit=100`)
  const usage = ['1d', '1h'].map((bucket) => admin.call(`GET /usage?${ofKey}&bucket=${bucket}`))
  const totals = (await Promise.all(usage)).map(({ body }) => body.total)
  const own = await answerSums(tables, key, { range, limit: 1, group: 'day' }, NOW)
  return {
    caller: (await pagesOfCaller()).toReversed(),
    listed: listed.map(({ request_id }) => request_id).toReversed(),
    exported: jsonLines<{ request_id: string }>(exported.text).map(({ request_id }) => request_id),
    small: page.body.data.map(({ request_id }: { request_id: string }) => request_id),
    totals: [...totals, own.total].map(({ requests, cost }) => ({ requests, cost })),
    leftOut: own.left_out,
  }
}

const whole = {
  caller: ids,
  listed: ids,
  exported: ids,
  small: rows
    .filter(({ model }) => model === 'small')
    .map(({ requestId }) => requestId)
    .sort()
    .toReversed()
    .slice(0, 100),
  totals: [all, all, all],
  leftOut: [],
}

describe('a key with rows in several lanes', () => {
  test('shows all of them in order, over pages, in lists, exports and sums of rows', async () => {
    expect(await readAll()).toEqual(whole)
  })

  test('reads its lanes once for a page, and a few rows of each', async () => {
    const gets: unknown[] = []
    let read = 0
    const stop = intercept(tables, async (send, name, input) => {
      const answer = (await send()) as { Items?: unknown[] }
      const { ProjectionExpression } = input as { ProjectionExpression?: string }
      if (name === 'GetItem' && ProjectionExpression !== undefined) gets.push(ProjectionExpression)
      if (name === 'Query') read += answer.Items?.length ?? 0
      return answer
    })
    const { body } = await admin.call(`GET /requests?key_id=${key.id}&${PAST}&limit=10`)
    stop()
    expect([body.data.length, gets]).toEqual([10, ['lanesMade']])
    expect(read).toBeLessThanOrEqual(2 * 8 * 4)
  })

  test('has sums that stop at a budget, and say which rows they left out', async () => {
    const range = { fromMs: FIRST_MS, toMs: END_MS }
    const { total, left_out } = await answerSums(tables, key, { range, limit: 1, group: 'day' }, NOW, 100)
    expect(total.requests).toBeLessThan(rows.length)
    const rest = left_out.map(({ from, to }) =>
      rows.filter(({ startedAtMs: at }) => at >= Date.parse(from) && at < Date.parse(to)),
    )
    expect(total.requests + rest.flat().length).toBe(rows.length)
    expect(total).toMatchObject({ cost: formatCredits(cost(rows) - cost(rest.flat())) })
  })

  test('is closed and exported in many runs as in one, and then tells the same by its totals, its audit and its invoice', async () => {
    const objects = new Map<string, Uint8Array>()
    const putObject = async (path: string, bytes: Uint8Array) => void objects.set(path, bytes)
    let runs = 0
    for (let behind = 1; behind > 0 && runs < 60; runs++) {
      let looks = 40
      const context = { getRemainingTimeInMillis: () => (looks-- > 0 ? 900_000 : 0) }
      ;({ behind } = await closerAt(tables, () => NOW, { putObject, partChars: 6_000 }).run(context))
    }
    expect(runs).toBeGreaterThan(5)
    const days = [3, 2, 1].map((before) => utcDay(END_MS - before * DAY_MS))
    const totals = await Promise.all(days.map((day) => readDayTotal(tables)(key.id, day)))
    expect(totals.map((total) => total && sumsOf(total).requests)).toEqual(
      days.map((day) => rows.filter(({ startedAtMs }) => utcDay(startedAtMs) === day).length || undefined),
    )
    const paths = [...objects.keys()].filter((path) => path.startsWith(`${EXPORT_FOLDER}/`)).sort()
    const lines = paths.flatMap((path) =>
      jsonLines<{ request_id: string; lane?: number }>(gunzipSync(objects.get(path) ?? '').toString()),
    )
    expect(paths.length).toBeGreaterThan(5)
    expect(lines.map(({ request_id }) => request_id)).toEqual(ids)
    expect(new Set(lines.map(({ lane }) => lane))).toEqual(new Set([undefined, 1, 7, 31]))
    expect(await readAll()).toEqual(whole)

    const { audit, steps } = await auditInSteps()
    expect([audit.ok, audit.findings, audit.explained]).toEqual([true, [], true])
    expect(audit.row_costs).toBe(all.cost)
    expect(steps).toBeGreaterThan(3)

    const month = utcDay(FIRST_MS).slice(0, 7)
    const { code, stdout, stderr } = await stage.waybill([
      'invoice',
      '--month',
      month,
      '--format',
      'json',
      '--stage',
      'dev',
    ])
    expect([code, stderr]).toEqual([0, ''])
    const { data } = JSON.parse(stdout) as Invoices
    expect(data.map(({ total }) => total.charged)).toEqual([all.cost])
  })

  /** An audit whose time is over again and again. */
  async function auditInSteps() {
    const current = await gateway.readKey(key.id)
    let begun: Parameters<typeof auditKey>[3]['begun']
    for (let steps = 1; ; steps++) {
      let looks = 60
      const audit = await auditKey(tables, current, NOW, { isOver: () => looks-- <= 0, begun })
      if (!('beforeMs' in audit)) return { audit, steps }
      begun = audit
    }
  }
})

const itemOf = async (requestId: string) =>
  (await tables.database.get({ TableName: tables.usage, Key: rowKey(requestId), ConsistentRead: true })).Item

const NOW_DAY = utcDay(NOW)

function settledItem(requestId: string, keyId: string) {
  return {
    ...rowKey(requestId),
    requestId,
    keyId,
    keyDay: `${keyId}#${NOW_DAY}`,
    startedAt: isoTime(NOW),
    endpoint: 'chat.completions',
    contract: 'chat',
    outcome: 'completed',
    httpStatus: 200,
    model: 'test-model',
    provider: 'up',
    upstreamModel: 'upstream-model',
    stream: false,
    promptTokens: 10,
    completionTokens: 5,
    cachedTokens: 0,
    usageSource: 'upstream',
    usageRejected: false,
    cost: 20_000,
    hold: 2_149_000,
    priceVersion: 1,
    price: { input: '1', output: '2', cachedInput: '0.5' },
    attempts: [{ provider: 'up', model: 'upstream-model', result: 'ok', ms: 0 }],
    durationMs: 0,
    finishReason: 'stop',
  }
}

test('a row of a key with one lane is the item that it was before there were lanes', async () => {
  const { row } = await gateway.ask()
  expect(await itemOf(row.requestId)).toStrictEqual(settledItem(row.requestId, row.keyId))
})

test('a row is in the partition of the lane that the request was counted in', async () => {
  const { key: laned, secret } = await gateway.issue()
  const address = laneAddress(laned.id, 12)
  const ofKey = { TableName: tables.keys, Key: keyItem(laned.id), ConsistentRead: true }
  const { Item } = await tables.database.get(ofKey)
  await tables.database.put({ TableName: tables.keys, Item: { ...Item, ...keyItem(address) } })
  const stop = intercept(tables, (send, name, input) => {
    const { Key, ...rest } = input as { Key?: { pk?: string } }
    if (name !== 'GetItem' || Key?.pk !== keyItem(laned.id).pk) return send()
    return tables.database.get({ ...ofKey, ...rest, Key: keyItem(address) })
  })
  const response = await gateway.post(secret, HELLO)
  stop()
  expect(response.status).toBe(200)
  const requestId = response.headers.get('x-request-id') ?? ''
  expect(await itemOf(requestId)).toStrictEqual({
    ...settledItem(requestId, laned.id),
    keyDay: `${laned.id}.12#${NOW_DAY}`,
    lane: 12,
  })
})

test('the row of a dead request is in the partition of the lane that held its credits', async () => {
  const { finishHold } = gateway.instance
  const itemIn = async (lane: number) => {
    const requestId = requestIdAt(NOW)
    await finishHold({ ...key, address: laneAddress(key.id, lane) }, { requestId, amount: 5n, untilMs: NOW })
    const { lane: told, keyDay } = (await itemOf(requestId)) ?? {}
    return { lane: told, keyDay }
  }
  expect(await itemIn(0)).toEqual({ lane: undefined, keyDay: `${key.id}#${NOW_DAY}` })
  expect(await itemIn(12)).toEqual({ lane: 12, keyDay: `${key.id}.12#${NOW_DAY}` })
})
