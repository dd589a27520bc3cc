import { inspect } from 'node:util'
import { gunzipSync } from 'node:zlib'
import { expect, test } from '@jest/globals'
import { dayExporter } from '../../functions/close/export-day.ts'
import { openInstance } from '../../functions/instance.ts'
import { cursorOf } from '../../layers/admin/api/pages.ts'
import { usageReader } from '../../layers/admin/usage/usage-reader.ts'
import { DAY_MS, HOUR_MS, isoTime, makeRequestId, utcDay } from '../../layers/gateway/domain/basics/time.ts'
import { CLOSING_LAG_MS, lastEndedDay, SUMMING_LAG_MS } from '../../layers/gateway/domain/rows/closed-day.ts'
import { DayCounter, isSameTotal, sumsOf } from '../../layers/gateway/domain/rows/day-total.ts'
import { EXPORT_COLUMNS } from '../../layers/gateway/domain/rows/export-line.ts'
import type { UsageRow } from '../../layers/gateway/domain/rows/usage-row.ts'
import { UsageSum } from '../../layers/gateway/domain/rows/usage-sum.ts'
import { ENV, TABLES } from '../../layers/gateway/names.ts'
import type { PutObject } from '../../layers/gateway/platform/aws/put-object.ts'
import { readConfig } from '../../layers/gateway/platform/config.ts'
import { releaseHold } from '../../layers/gateway/store/admission/release-hold.ts'
import { takeAdmission } from '../../layers/gateway/store/admission/take-admission.ts'
import type { Tables } from '../../layers/gateway/store/dynamodb/database.ts'
import { readKey } from '../../layers/gateway/store/keys/read-key.ts'
import { noteClosing, readClosing, setRowExpiry } from '../../layers/gateway/store/rows/closing.ts'
import { putDayTotal, readDayTotal, toTotalItem, totalKey } from '../../layers/gateway/store/rows/day-totals.ts'
import { HOUR_SUMS, hourOf } from '../../layers/gateway/store/rows/hour-sums.ts'
import { rowKey } from '../../layers/gateway/store/rows/usage-item.ts'
import { putUsageRow } from '../../layers/gateway/store/rows/usage-rows.ts'
import { adminOf } from '../admin-api/support/admin.ts'
import { Random } from '../simulation/random.ts'
import { auditKey } from '../support/audit-key.ts'
import { demandOf } from '../support/demand.ts'
import { openTestTables } from '../support/gateway.ts'
import { intercept } from '../support/intercept.ts'
import { type AuditLine, jsonLines } from '../support/json-lines.ts'
import { closerAt, randomRow, randomRows, usedKey } from '../support/past-usage.ts'
import { someTimes } from '../support/some-of.ts'

/** Midnight. */
const FIRST_MS = Date.UTC(2026, 9, 1)
const day = (number: number) => utcDay(FIRST_MS + number * DAY_MS)
/** When so many days from the first on have ended, and no request of theirs can begin any more. */
const endOf = (days: number) => FIRST_MS + days * DAY_MS + CLOSING_LAG_MS

type Objects = Map<string, Uint8Array>

function bucket(objects: Objects = new Map()) {
  return {
    objects,
    putObject: async (path: string, bytes: Uint8Array) => void objects.set(path, bytes),
  }
}

/** Only the folder of rows. */
function bucketOfRows() {
  const { objects, putObject } = bucket()
  return {
    objects,
    putObject: async (path: string, bytes: Uint8Array) =>
      path.startsWith('usage/') ? putObject(path, bytes) : undefined,
  }
}

function linesIn(objects: Objects): Record<string, unknown>[] {
  return [...objects.values()].flatMap((bytes) => jsonLines<Record<string, unknown>>(gunzipSync(bytes).toString()))
}

function totalsOf(rows: readonly UsageRow[]) {
  const counters = new Map<string, DayCounter>()
  for (const row of rows) {
    const of = utcDay(row.startedAtMs)
    const name = `${row.keyId} ${of}`
    const counter = counters.get(name) ?? new DayCounter(row.keyId, of)
    counters.set(name, counter)
    counter.add(row)
  }
  return [...counters.values()].map((counter) => counter.total())
}

/** The totals, each as a text that does not depend on the order in which DynamoDB gives fields. */
async function storedItems({ database, usage }: Tables, part = 'DAY#2'): Promise<string[]> {
  const { Items = [] } = await database.scan({ TableName: usage, ConsistentRead: true })
  return Items.filter((item) => String(item.part).startsWith(part))
    .map((item) => inspect(item, { sorted: true, depth: null, breakLength: Number.POSITIVE_INFINITY }))
    .sort()
}

async function audit(tables: Tables, keyId: string, nowMs: number) {
  const key = await readKey(tables)(keyId)
  if (!key) throw new Error('no key')
  return auditKey(tables, key, nowMs)
}

/** The usage that operators are shown. */
async function shownUsage(tables: Tables, fromMs: number, nowMs: number, more = '') {
  const { call } = adminOf(tables, { clock: () => nowMs })
  const range = `from=${isoTime(fromMs)}&to=${isoTime(nowMs + HOUR_MS)}${more}`
  const groups = ['key', 'model', 'provider', 'day'].map((name) => call(`GET /usage?group_by=${name}&${range}`))
  return (await Promise.all(groups)).map(({ body }) => body.groups)
}

/** A stage with a key that has so many rows on the days from the first on. */
async function stageWith(seed: number, days: number, count: number, keepDays?: number) {
  const tables = await openTestTables()
  const random = new Random(seed)
  const addKey = () => usedKey(tables, FIRST_MS, (id) => randomRows(random, id, FIRST_MS, days, count), keepDays)
  return { tables, random, addKey, ...(await addKey()) }
}

async function removeRow({ database, usage }: Tables, { requestId }: UsageRow): Promise<void> {
  await database.delete({ TableName: usage, Key: rowKey(requestId) })
}

test('a day is over when no clock, function or hold of ours can still belong to it', () => {
  expect(lastEndedDay(endOf(1) - 1)).toBe(day(-1))
  expect(lastEndedDay(endOf(1))).toBe(day(0))
  expect(CLOSING_LAG_MS).toBe(2 * HOUR_MS + 16 * 60_000)
})

test('days closed at random moments have totals that are the sum of their rows, and summaries by totals are those by rows', async () => {
  const tables = await openTestTables()
  const random = new Random(7)
  const used = await Promise.all(
    Array.from({ length: 5 }, (_, i) =>
      usedKey(tables, FIRST_MS, (id) => randomRows(random, id, FIRST_MS, 6, i === 4 ? 0 : 10 + random.below(60))),
    ),
  )
  const rows = used.flatMap(({ rows: of }) => of)
  const nowMs = endOf(6) - 3 * HOUR_MS
  const since = [FIRST_MS, FIRST_MS + 5 * HOUR_MS, nowMs - 26 * HOUR_MS]
  const byRows = await Promise.all(since.map((fromMs) => shownUsage(tables, fromMs, nowMs)))
  const one = `&key_id=${used[0]?.key.id}`
  const ofOne = await shownUsage(tables, FIRST_MS, nowMs, one)

  for (let atMs = FIRST_MS; atMs < nowMs; atMs += random.below(2 * DAY_MS)) await closerAt(tables, () => atMs).run()
  expect(await closerAt(tables, () => nowMs).run()).toMatchObject({ behind: 0 })

  const closed = totalsOf(rows).filter((total) => total.day <= lastEndedDay(nowMs))
  expect(closed.length).toBeGreaterThan(15)
  for (const total of closed) {
    const stored = await readDayTotal(tables)(total.keyId, total.day)
    expect(stored && isSameTotal(stored, total)).toBe(true)
  }
  expect(await storedItems(tables)).toHaveLength(closed.length)
  const laterMs = nowMs + 2 * 60_000
  expect(await Promise.all(since.map((fromMs) => shownUsage(tables, fromMs, laterMs)))).toEqual(byRows)
  expect(await shownUsage(tables, FIRST_MS, laterMs, one)).toEqual(ofOne)
  const audits = await Promise.all(used.map(({ key }) => audit(tables, key.id, laterMs)))
  expect(audits.map(({ findings }) => findings)).toEqual(used.map(() => []))
})

test('hours are added up once nothing in them can change, and what is read is the same before, between and after', async () => {
  const { tables, random, ...used } = await stageWith(31, 2, 60)
  const range = { fromMs: FIRST_MS + 20 * 60_000, toMs: FIRST_MS + 40 * HOUR_MS + 1 }
  const read = async () => {
    const routes = new UsageSum()
    for await (const { sum } of usageReader(tables)(range, 'routes', 'hours')) {
      for (const [route, asked] of sum.routes) routes.addRoute(route, asked)
    }
    const nowMs = range.toMs - HOUR_MS
    const shown = ['1h', '1d'].map((bucket) => shownUsage(tables, range.fromMs, nowMs, `&bucket=${bucket}`))
    return [...(await Promise.all(shown)), [...routes.routes].sort(([a], [b]) => (a < b ? -1 : 1))]
  }
  const byRows = await read()
  const inRange = used.rows.filter(({ startedAtMs: at }) => at >= range.fromMs && at < range.toMs)
  expect(byRows[0]?.[0]).toMatchObject([{ requests: inRange.length }])
  const heldMs = FIRST_MS + 7 * HOUR_MS + 5
  const requestId = makeRequestId(heldMs, random.bytes(10))
  const demand = demandOf(used.key, heldMs, { requestId, hold: 5n })
  const { key } = used
  await takeAdmission(tables)({ ...key, bucketFullAtUs: 0 }, demand)
  for (const [nowMs, through] of [
    [FIRST_MS + SUMMING_LAG_MS + HOUR_MS - 1, hourOf(FIRST_MS - HOUR_MS)],
    [FIRST_MS + SUMMING_LAG_MS + HOUR_MS, hourOf(FIRST_MS)],
    // The request that is open began in the eighth hour.
    [FIRST_MS + 30 * HOUR_MS, hourOf(FIRST_MS + 6 * HOUR_MS)],
  ] as const) {
    await closerAt(tables, () => nowMs).run()
    expect((await readClosing(tables)()).summedThrough).toBe(through)
    expect(await read()).toEqual(byRows)
  }
  await releaseHold(tables)({
    address: key.address,
    requestId,
    hold: { amount: 5n, untilMs: heldMs + 60_000 },
    cost: 0n,
  })
  await closerAt(tables, () => endOf(3)).run()
  expect((await readClosing(tables)()).summedThrough).toBe(hourOf(endOf(3) - SUMMING_LAG_MS - HOUR_MS))
  expect(await read()).toEqual(byRows)
})

test.each([
  ['all hours of the day are', 24],
  ['only some hours of the day are', 9],
])('a row that comes when %s added up is in the sums once its day is closed', async (_, hours) => {
  const { tables, random, ...used } = await stageWith(14, 1, 30)
  await closerAt(tables, () => FIRST_MS + hours * HOUR_MS + SUMMING_LAG_MS).run()
  expect((await readClosing(tables)()).summedThrough).toBe(hourOf(FIRST_MS + (hours - 1) * HOUR_MS))
  const late = randomRow(random, used.key.id, FIRST_MS + 3 * HOUR_MS)
  await putUsageRow(tables)(late)
  const expectRequests = async (requests: number) => {
    for (const bucket of ['1h', '1d']) {
      const [keys] = await shownUsage(tables, FIRST_MS, endOf(1), `&bucket=${bucket}`)
      expect(keys).toMatchObject([{ group: used.key.id, requests }])
    }
  }
  await expectRequests(used.rows.length)
  await closerAt(tables, () => endOf(1)).run()
  const { closedThrough, again } = await readClosing(tables)()
  expect([closedThrough, again]).toEqual([day(0), undefined])
  await expectRequests(used.rows.length + 1)
})

test('a day with a request that died stays open for its key alone until the request has its row', async () => {
  const { tables, random, addKey, ...dead } = await stageWith(10, 2, 6)
  const other = await addKey()
  const startedAtMs = FIRST_MS + DAY_MS - 1
  const requestId = makeRequestId(startedAtMs, random.bytes(10))
  const demand = demandOf(dead.key, startedAtMs, { requestId, hold: 5n, holdUntilMs: startedAtMs + 960_000 })
  const key = await readKey(tables)(dead.key.id)
  expect(key && (await takeAdmission(tables)(key, demand)).admitted).toBe(true)

  // The sweep was away for days.
  const closer = closerAt(tables, () => endOf(3))
  expect(await closer.run()).toMatchObject({ behind: 3, closed: 1 })
  expect(await readDayTotal(tables)(dead.key.id, day(0))).toBeUndefined()
  expect(await readDayTotal(tables)(other.key.id, day(0))).toBeDefined()
  expect(await readDayTotal(tables)(dead.key.id, day(1))).toBeDefined()
  expect(await audit(tables, dead.key.id, endOf(3))).toMatchObject({ ok: true })

  const holds = (await readKey(tables)(dead.key.id))?.holds ?? {}
  for (const [id, hold] of Object.entries(holds)) await closer.instance.finishHold(dead.key, { requestId: id, ...hold })
  expect(await closer.run()).toMatchObject({ behind: 0 })
  const total = await readDayTotal(tables)(dead.key.id, day(0))
  const settled = dead.rows.filter((row) => utcDay(row.startedAtMs) === day(0))
  expect(total && sumsOf(total).requests).toBe(settled.length + 1)
  expect(await audit(tables, dead.key.id, endOf(3))).toMatchObject({ ok: true, findings: [] })
})

test('a total is written once: the same again is fine, and another is refused and leaves it as it is', async () => {
  const tables = await openTestTables()
  const random = new Random(11)
  const [total] = totalsOf([randomRow(random, 'key_a', FIRST_MS), randomRow(random, 'key_a', FIRST_MS)])
  const [another] = totalsOf([randomRow(random, 'key_a', FIRST_MS)])
  if (!total || !another) throw new Error('no total')
  expect(await putDayTotal(tables)(total)).toBe(true)
  expect(await putDayTotal(tables)(total)).toBe(true)
  expect(await putDayTotal(tables)(another)).toBe(false)
  expect(await readDayTotal(tables)('key_a', day(0))).toEqual(total)
})

test('wherever a run dies, before a call or after it, it leaves nothing that the next runs do not complete: the same totals, the same bytes', async () => {
  const { tables, addKey } = await stageWith(12, 2, 4)
  await addKey()
  const nowMs = endOf(2)
  const wanted = bucket()
  const runTwice = async (putObject: PutObject) => {
    await closerAt(tables, () => nowMs, { putObject }).run()
    return closerAt(tables, () => nowMs + HOUR_MS, { putObject }).run()
  }
  expect(await runTwice(wanted.putObject)).toMatchObject({ behind: 0 })
  const totals = await storedItems(tables)
  const hours = await storedItems(tables, HOUR_SUMS)
  expect([totals.length > 2, hours.length > 10, wanted.objects.size]).toEqual([true, true, 4])

  // The many reads of hours are all alike.
  for (let failing = 0, hasDied = true; hasDied; failing += failing < 40 ? someTimes(9, 3) : someTimes(75, 25)) {
    await forgetDays(tables)
    const { objects, putObject } = bucket()
    let calls = 0
    const dying = async <T>(work: () => Promise<T>): Promise<T> => {
      const number = calls++
      if (number === failing && failing % 2 === 0) throw new Error('killed before')
      const result = await work()
      if (number >= failing) throw new Error('killed after')
      return result
    }
    const stop = intercept(tables, (send) => dying(send))
    await runTwice((path, bytes) => dying(() => putObject(path, bytes))).catch(() => {})
    stop()
    hasDied = calls > failing
    expect(await runTwice(putObject)).toMatchObject({ behind: 0 })
    expect(await storedItems(tables)).toEqual(totals)
    expect(await storedItems(tables, HOUR_SUMS)).toEqual(hours)
    expect(objects).toEqual(wanted.objects)
  }
})

async function forgetDays({ database, usage }: Tables): Promise<void> {
  const { Items = [] } = await database.scan({ TableName: usage, ConsistentRead: true })
  for (const { part, requestId } of Items.filter((item) => String(item.part).startsWith('DAY#'))) {
    await database.delete({ TableName: usage, Key: { part, requestId } })
  }
}

/** Says so often that there is time, and then that there is none. */
function timeFor(looks: number) {
  let left = looks
  return { getRemainingTimeInMillis: () => (left-- > 0 ? 900_000 : 0) }
}

test('a run ends before its time does, and the next ones go on: a stage with old rows is caught up with', async () => {
  const { tables, addKey } = await stageWith(13, 30, 40)
  await addKey()
  const behinds: number[] = []
  for (let runs = 0; behinds.at(-1) !== 0 && runs < 40; runs++) {
    behinds.push((await closerAt(tables, () => endOf(30)).run(timeFor(25))).behind)
  }
  expect(behinds.length).toBeGreaterThan(2)
  expect(behinds).toEqual(behinds.toSorted((a, b) => b - a))
  expect(behinds.at(-1)).toBe(0)
})

test('a key with more rows than a run has time for is added up and exported over several runs, as by one run, and each row is read a few times at most', async () => {
  const tables = await openTestTables()
  const random = new Random(23)
  // Several in the same millisecond, and another key beside it.
  const rowsOf = (count: number) => (id: string) =>
    Array.from({ length: count }, () => randomRow(random, id, FIRST_MS + random.below(40)))
  const { rows } = await usedKey(tables, FIRST_MS, rowsOf(120))
  await usedKey(tables, FIRST_MS, rowsOf(3))
  const runOn = async (nowMs: number, context: ReturnType<typeof timeFor>, objects: Objects) =>
    closerAt(tables, () => nowMs, { ...bucket(objects), partChars: 6_000 }).run(context)
  const wanted: Objects = new Map()
  for (let run = 0; run < 2; run++) await runOn(endOf(1) + run * HOUR_MS, timeFor(Infinity), wanted)
  const totals = await storedItems(tables)
  await forgetDays(tables)

  const objects: Objects = new Map()
  const first = rows.toSorted((a, b) => a.startedAtMs - b.startedAtMs)[0]?.requestId
  let timesRead = 0
  const stop = intercept(tables, async (send) => {
    const page = (await send()) as { Items?: { requestId: string }[] }
    timesRead += page.Items?.filter(({ requestId }) => requestId === first).length ?? 0
    return page
  })
  let runs = 0
  for (let behind = 1; (behind > 0 || objects.size < wanted.size) && runs < 60; runs++) {
    ;({ behind } = await runOn(endOf(1) + runs * HOUR_MS, timeFor(12), objects))
  }
  stop()
  expect(runs).toBeGreaterThan(8)
  expect(await storedItems(tables)).toEqual(totals)
  expect(objects).toEqual(wanted)
  expect(await runOn(endOf(1) + 61 * HOUR_MS, timeFor(Infinity), objects)).toMatchObject({ behind: 0 })
  // Without a cursor each of the runs would begin with the first row.
  expect(timesRead).toBeLessThan(5)
})

test('a run with less time than the pause for the index does not begin it, and exports what is closed', async () => {
  const { tables } = await stageWith(24, 3, 20)
  await closerAt(tables, () => endOf(1)).run()
  const pauses: number[] = []
  const pause = async (ms: number) => void pauses.push(ms)
  const closer = closerAt(tables, () => endOf(3), { ...bucket(), pause })
  expect(await closer.run({ getRemainingTimeInMillis: () => 80_000 })).toEqual({ closed: 0, exported: 2, behind: 2 })
  expect(pauses).toEqual([])
  expect(await closer.run({ getRemainingTimeInMillis: () => 100_000 })).toMatchObject({ closed: 2, behind: 0 })
  expect(pauses).toEqual([60_000])
})

test('days are closed before any is exported, and a day that cannot be exported keeps no other from being closed', async () => {
  const { tables } = await stageWith(25, 3, 30)
  await closerAt(tables, () => endOf(1)).run()
  const closedWhenPut: (string | undefined)[] = []
  const putObject = async () => {
    closedWhenPut.push((await readClosing(tables)()).closedThrough)
    throw new Error('There is no bucket.')
  }
  expect(await closerAt(tables, () => endOf(3), { putObject }).run()).toEqual({ closed: 2, exported: 1, behind: 1 })
  expect(closedWhenPut).toEqual([day(2)])
})

test('days that are closed are exported even if closing fails, which is told', async () => {
  const { tables } = await stageWith(26, 1, 5)
  await closerAt(tables, () => endOf(1)).run()
  await noteClosing(tables)({ exportedThrough: day(-1) })
  const { objects, putObject } = bucket()
  const stop = intercept(tables, (send, name) => (name === 'Scan' ? Promise.reject(new Error('no keys')) : send()))
  await expect(closerAt(tables, () => endOf(2), { putObject }).run()).rejects.toThrow('no keys')
  stop()
  expect([...objects.keys()]).toEqual(['usage', 'focus'].map((folder) => `${folder}/dt=${day(0)}/00000.json.gz`))
})

test('a stage without keys gets no totals and no note', async () => {
  const tables = await openTestTables()
  await closerAt(tables, () => endOf(1)).run()
  const { Items = [] } = await tables.database.scan({ TableName: tables.usage })
  expect(Items).toEqual([])
})

test('a stage that keeps rows for some days gives each row its end in the write that makes it, and others give none', async () => {
  const tables = await openTestTables()
  const { key } = await usedKey(tables, FIRST_MS, () => [])
  const names = { [ENV.keysTable]: tables.keys, [ENV.usageTable]: tables.usage, [ENV.answersTable]: tables.answers }
  const endOfRow = async (variables: Record<string, string>, number: number) => {
    const calls: string[] = []
    const stop = intercept(tables, (send, name) => {
      calls.push(name)
      return send()
    })
    const requestId = makeRequestId(FIRST_MS, new Random(number).bytes(10))
    const { finishHold } = openInstance({ config: readConfig({ ...names, ...variables }), tables })
    await finishHold(key, { requestId, amount: 0n, untilMs: FIRST_MS })
    stop()
    expect(calls).toEqual(['PutItem', 'UpdateItem'])
    const { Item } = await tables.database.get({ TableName: tables.usage, Key: rowKey(requestId) })
    return Item?.[TABLES.usage.timeToLive]
  }
  expect(await endOfRow({ [ENV.keepRowsDays]: '400' }, 1)).toBe((FIRST_MS + 400 * DAY_MS) / 1000)
  expect(await endOfRow({}, 2)).toBeUndefined()
})

test('rows expire after the days that a stage keeps them, and the audit and summaries go on by the totals', async () => {
  const { tables, random, key, rows } = await stageWith(15, 5, 40, 100)
  await closerAt(tables, () => endOf(5)).run()
  const beforeMs = endOf(5) + 60_000
  const before = await shownUsage(tables, FIRST_MS, beforeMs)
  const spent = (await audit(tables, key.id, beforeMs)).row_costs

  // As DynamoDB does it: a row here, a row there, some later than they might.
  const nowMs = FIRST_MS + 103 * DAY_MS
  for (const row of rows) if (row.startedAtMs + 100 * DAY_MS < nowMs && random.chance(0.8)) await removeRow(tables, row)
  const { expired_rows: expiredRows, ...audited } = await audit(tables, key.id, nowMs)
  expect(audited).toMatchObject({ ok: true, findings: [], rows: rows.length, row_costs: spent })
  expect(expiredRows).toBeGreaterThan(10)
  expect(await shownUsage(tables, FIRST_MS, nowMs)).toEqual(before)
  for (const row of rows) await removeRow(tables, row)
  expect(await audit(tables, key.id, nowMs + 5 * DAY_MS)).toMatchObject({ ok: true, expired_rows: rows.length })
  // Before its time no row may be gone.
  expect(await audit(tables, key.id, beforeMs)).toMatchObject({ ok: false })
})

test('no row expires while a day is not exported that is two months old, and rows expire again once it is', async () => {
  const { tables } = await stageWith(27, 1, 5, 90)
  const switched: boolean[] = []
  const away = async () => Promise.reject(new Error('There is no bucket.'))
  const runAt = async (days: number, putObject: PutObject | undefined) =>
    closerAt(tables, () => endOf(days), { putObject, setRowExpiry: async (isOn) => void switched.push(isOn) }).run()
  // The day before the first has no rows, so that it is exported without a bucket.
  for (const days of [1, 2, 59]) await runAt(days, away)
  expect(switched).toEqual([])
  await runAt(60, away)
  // Switched off again, because a table that was restored would have it on.
  await runAt(60, away)
  expect(switched).toEqual([false, false])
  await runAt(61, bucket().putObject)
  await runAt(61, bucket().putObject)
  expect(switched).toEqual([false, false, false, true])
  await runAt(62, bucket().putObject)
  expect(switched).toHaveLength(4)
  // Neither do rows expire if the export is turned off for good.
  await runAt(130, undefined)
  expect(switched.slice(4)).toEqual([false])
  const failing = { setRowExpiry: away, putObject: bucket().putObject }
  expect(await closerAt(tables, () => endOf(132), failing).run()).toMatchObject({ closed: 2 })
})

test('the expiry of rows is switched at the table, and may be switched to what it is', async () => {
  const tables = await openTestTables()
  const set = setRowExpiry(tables)
  const standing = async () => {
    const { TimeToLiveDescription } = await tables.database.control('DescribeTimeToLive', { TableName: tables.usage })
    return (TimeToLiveDescription as { TimeToLiveStatus?: string }).TimeToLiveStatus
  }
  await set(false)
  await set(false)
  expect(await standing()).toBe('DISABLED')
  await set(true)
  expect(await standing()).toBe('ENABLED')
  await expect(setRowExpiry({ ...tables, usage: 'no-table' })(true)).rejects.toThrow()
})

test('an audit with time for three rows goes on within a day, with what it found, and proves the same; no cursor can be made up', async () => {
  const { tables, key } = await stageWith(17, 6, 120, 100)
  await closerAt(tables, () => endOf(4)).run()
  await tables.database.delete({ TableName: tables.usage, Key: totalKey(key.id, day(1)) })
  const whole = await audit(tables, key.id, endOf(6))
  expect(whole.ok).toBe(false)
  // A reading of the clock takes a second, and a page three; a day has about twenty rows.
  let nowMs = endOf(6)
  const admin = adminOf(tables, { clock: () => (nowMs += 1_000) })
  const lines: AuditLine[] = []
  for (let after: string | null | undefined; after !== null; ) {
    const { text } = await admin.call('POST /audits', { body: { key_id: key.id, after } })
    const told = jsonLines(text)
    lines.push(...told)
    after = told.at(-1)?.last_id
  }
  expect(lines.filter(({ object }) => object === 'audit.summary').length).toBeGreaterThan(24)
  const [found, ...others] = lines.filter(({ object }) => object === 'audit')
  expect(others).toEqual([])
  expect(found).toMatchObject({ key_id: key.id, rows: whole.rows, ok: false, explained: whole.explained })
  expect(found).toMatchObject({ findings: [{ text: expect.stringMatching(/is missing.*expected \d+ requests/) }] })
  for (const after of ['x', cursorOf('A'.repeat(22)), cursorOf('', 0, 0, '{"beforeMs":1}')]) {
    const refused = await admin.call('POST /audits', { body: { after } })
    expect([after, refused.status, refused.body.error.param]).toEqual([after, 400, 'after'])
  }
})

test('a total that was tampered with is found out, with its rows and without them', async () => {
  const { tables, key, rows } = await stageWith(16, 1, 12, 100)
  await closerAt(tables, () => endOf(1)).run()
  const total = await readDayTotal(tables)(key.id, day(0))
  if (!total) throw new Error('no total')
  const put = (stored: typeof total) => tables.database.put({ TableName: tables.usage, Item: toTotalItem(stored) })
  const restore = () => put(total)
  type Part = (typeof total.parts)[number]
  const tamper = (index: number, change: (part: Part) => Partial<Part>) =>
    put({ ...total, parts: total.parts.map((part, at) => (at === index ? { ...part, ...change(part) } : part)) })
  const changed = new RegExp(`the total of ${day(0)} is not the sum of its rows`)
  const found = async (nowMs: number) => (await audit(tables, key.id, nowMs)).findings.map(({ what }) => what)

  await tamper(0, ({ requests }) => ({ requests: requests + 1 }))
  expect(await found(endOf(2))).toEqual([expect.stringMatching(changed)])
  await restore()
  const costly = total.parts.findIndex(({ cost }) => cost > 0n)
  await tamper(costly, ({ promptTokens }) => ({ promptTokens: promptTokens + 1 }))
  expect(await found(endOf(2))).toEqual([expect.stringMatching(changed)])
  await restore()
  await tables.database.delete({ TableName: tables.usage, Key: totalKey(key.id, day(0)) })
  expect(await found(endOf(2))).toEqual([expect.stringMatching(/is missing, though the day is closed/)])
  await restore()
  expect(await found(endOf(2))).toEqual([])

  for (const row of rows) await removeRow(tables, row)
  const laterMs = FIRST_MS + 103 * DAY_MS
  expect(await found(laterMs)).toEqual([])
  await tamper(costly, ({ cost }) => ({ cost: cost - 1n }))
  expect(await found(laterMs)).toContainEqual('spent is not the sum of the rows')
})

test('a row that comes after its day was closed is found out by the audit', async () => {
  const { tables, random, key } = await stageWith(17, 1, 3)
  await closerAt(tables, () => endOf(1)).run()
  await putUsageRow(tables)({ ...randomRow(random, key.id, FIRST_MS + 5), cost: 0n })
  const { findings } = await audit(tables, key.id, endOf(2))
  expect(findings).toEqual([expect.objectContaining({ what: expect.stringContaining(`the total of ${day(0)}`) })])
})

test('an upstream that makes up an error code for each request makes no total larger', () => {
  const random = new Random(18)
  const counter = new DayCounter('key_a', day(0))
  for (let i = 0; i < 5_000; i++) {
    counter.add({ ...randomRow(random, 'key_a', FIRST_MS), outcome: 'refused', errorCode: `made_up_${i}` })
  }
  const total = counter.total()
  expect(total.parts.length).toBeLessThanOrEqual(7)
  expect(total.parts.every(({ errors }) => Object.keys(errors).length === 1)).toBe(true)
  expect(sumsOf(total).requests).toBe(5_000)
})

test('the exported lines of a closed day have every row once, whole, in parts that fit into memory and can be gone on with', async () => {
  const tables = await openTestTables()
  const random = new Random(19)
  // Many in the same millisecond, which DynamoDB may give in any order.
  const made = Array.from({ length: 6 }, () =>
    usedKey(tables, FIRST_MS, (id) =>
      Array.from({ length: 25 }, () => randomRow(random, id, FIRST_MS + random.below(3))),
    ),
  )
  const rows = (await Promise.all(made)).flatMap((of) => of.rows)
  await closerAt(tables, () => endOf(1)).run()
  const { objects, putObject } = bucketOfRows()
  expect(await dayExporter(tables, putObject, () => true, { partChars: 20_000 })(day(0))).toBe(true)
  const paths = [...objects.keys()]
  expect(paths.length).toBeGreaterThan(3)
  expect(paths).toEqual(paths.map((_, i) => `usage/dt=${day(0)}/0000${i}.json.gz`))
  for (const bytes of objects.values()) expect(gunzipSync(bytes).length).toBeLessThanOrEqual(20_000)
  const lines = linesIn(objects)
  const byId = (id: unknown) => lines.filter(({ request_id }) => request_id === id)
  for (const row of rows) {
    expect(byId(row.requestId)).toEqual([
      expect.objectContaining({
        key_id: row.keyId,
        started_at: new Date(row.startedAtMs).toISOString(),
        cost_nano: Number(row.cost),
        prompt_tokens: row.promptTokens,
        attempts: JSON.stringify(
          row.attempts.map(({ provider, model, result, ms }) => ({ model, ms, provider, result })),
        ),
      }),
    ])
  }
  expect(lines).toHaveLength(rows.length)
  const columns = new Set(EXPORT_COLUMNS.map(({ name }) => name))
  for (const line of lines) expect(Object.keys(line).filter((name) => !columns.has(name))).toEqual([])

  // From the place that was noted, the rest is written as it was.
  const { exporting } = await readClosing(tables)()
  expect(exporting?.part).toBeGreaterThan(0)
  const again = bucketOfRows()
  await dayExporter(tables, again.putObject, () => true, { partChars: 20_000 })(day(0), exporting)
  expect(again.objects.size).toBe(objects.size - (exporting?.part ?? 0))
  for (const [path, bytes] of again.objects)
    expect(Buffer.from(bytes).equals(objects.get(path) ?? Buffer.of())).toBe(true)
})

test('a day whose rows are not those of its totals is not noted as exported, and counts as behind', async () => {
  const { tables, rows } = await stageWith(20, 2, 20)
  await closerAt(tables, () => endOf(2)).run()
  const [first] = rows
  if (first) await removeRow(tables, first)
  const { putObject } = bucket()
  const closer = closerAt(tables, () => endOf(2) + HOUR_MS, { putObject })
  expect(await closer.run()).toMatchObject({ exported: expect.any(Number), behind: expect.any(Number) })
  const { exportedThrough = '' } = await readClosing(tables)()
  expect(exportedThrough < utcDay(first?.startedAtMs ?? 0)).toBe(true)
  expect(closer.logLines.join()).toContain('could not be exported')
  expect((await closer.run()).behind).toBeGreaterThan(0)
})
