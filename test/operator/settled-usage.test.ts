import { beforeAll, describe, expect, jest, test } from '@jest/globals'
import { attemptsOf24h } from '../../layers/admin/usage/route-attempts.ts'
import { SettledUsage } from '../../layers/admin/usage/settled-usage.ts'
import { usageOfDays } from '../../layers/admin/usage/usage-of-days.ts'
import { CLOCK_MARGIN_MS, CLOSING_LAG_MS, settledBefore } from '../../layers/gateway/domain/closed-day.ts'
import { addParts, type UsagePart } from '../../layers/gateway/domain/day-total.ts'
import type { Hold, Key } from '../../layers/gateway/domain/key.ts'
import { DAY_MS, HOUR_MS, MINUTE_MS } from '../../layers/gateway/domain/time.ts'
import { makeRequestId } from '../../layers/gateway/domain/ulid.ts'
import type { UsageRow } from '../../layers/gateway/domain/usage-row.ts'
import { releaseHold } from '../../layers/gateway/store/admission/release-hold.ts'
import { takeAdmission } from '../../layers/gateway/store/admission/take-admission.ts'
import type { Item } from '../../layers/gateway/store/database.ts'
import { listKeys, readKey } from '../../layers/gateway/store/keys/read-key.ts'
import type { OperatorTables } from '../../layers/gateway/store/operator-tables.ts'
import { HALT_ITEM, INDEX_LAG_MS } from '../../layers/gateway/store/usage/closing.ts'
import { rowKey } from '../../layers/gateway/store/usage/row-key.ts'
import { putUsageRow } from '../../layers/gateway/store/usage/usage-rows.ts'
import { Random } from '../simulation/random.ts'
import { openTestTables } from '../support/gateway.ts'
import { intercept } from '../support/intercept.ts'
import { closerAt, randomRow, usedKey } from '../support/past-usage.ts'

jest.setTimeout(60_000)

const SECOND_MS = 1000
/** Midnight. */
const FIRST_MS = Date.UTC(2026, 9, 1)
const FUNCTION_MS = 15 * MINUTE_MS
const HOLD_MS = FUNCTION_MS + MINUTE_MS

type Request = { readonly row: UsageRow; readonly hold?: Hold; readonly endsByMs: number }
type Used = { readonly key: Key; readonly clockMs: number; readonly open: Request[] }

/**
 * A gateway in a time of its own. Each row is in the index so long after it is in the table, the operator's clock is
 * ahead as far as it may be, and those of the gateway are as far off as they like.
 */
class World {
  readonly random: Random
  readonly tables: OperatorTables
  readonly settled = new SettledUsage(() => this.ms)
  readonly used: Used[] = []
  readonly read = { kept: 0, fresh: 0 }
  indexLag = () => this.random.pick([0, this.random.below(INDEX_LAG_MS), INDEX_LAG_MS])
  ms = FIRST_MS
  readonly #visible = new Map<string, number>()
  #reading: 'kept' | 'fresh' | undefined

  constructor(tables: OperatorTables, seed: number) {
    this.tables = tables
    this.random = new Random(seed)
    intercept(tables, async (send, operation, input) => {
      if (operation === 'PutItem') {
        const { requestId } = (input as { Item: Item }).Item
        const atMs = this.ms + this.indexLag()
        if (!this.#visible.has(requestId as string)) this.#visible.set(requestId as string, atMs)
      }
      const answer = await send()
      if (operation !== 'Query') return answer
      const { Items = [], ...rest } = answer as { Items?: Item[] }
      const seen = Items.filter(({ requestId }) => this.ms >= (this.#visible.get(requestId as string) ?? 0))
      if (this.#reading) this.read[this.#reading] += seen.length
      return { ...rest, Items: seen }
    })
  }

  get operatorMs(): number {
    return Math.floor(this.ms) + CLOCK_MARGIN_MS
  }

  async makeKey(clockMs = this.random.below(2 * CLOCK_MARGIN_MS + 1) - CLOCK_MARGIN_MS): Promise<Used> {
    const { key } = await usedKey(this.tables, Math.floor(this.ms) + clockMs, () => [])
    const used = { key, clockMs, open: [] }
    this.used.push(used)
    return used
  }

  row({ key }: Used, startedAtMs: number): UsageRow {
    const [provider, model] = [this.random.pick(['one', 'two']), this.random.pick(['a', 'b'])]
    const attempt = { provider, model, result: this.random.pick(['ok', 'error']), ms: 1 }
    return { ...randomRow(this.random, key.id, startedAtMs), attempts: [attempt] }
  }

  /** Unless it is to be held, it may be one that is refused. */
  async begin(of: Used, startedAtMs = Math.floor(this.ms) + of.clockMs, outcome?: 'completed'): Promise<Request> {
    const row = { ...this.row(of, startedAtMs), ...(outcome && { outcome }) }
    const hold = { amount: row.hold, untilMs: startedAtMs + HOLD_MS }
    const demand = { requestId: row.requestId, hash: of.key.current.hash, nowMs: startedAtMs }
    const key = (await readKey(this.tables)(of.key.id)) as Key
    const isHeld =
      row.outcome !== 'refused' &&
      (await takeAdmission(this.tables)(key, { ...demand, hold: hold.amount, holdUntilMs: hold.untilMs })).admitted
    const request = { row, endsByMs: this.ms + FUNCTION_MS, ...(isHeld && { hold }) }
    of.open.push(request)
    return request
  }

  async settle({ key, open }: Used, request: Request): Promise<void> {
    open.splice(open.indexOf(request), 1)
    const { requestId, cost } = await putUsageRow(this.tables)(request.row)
    if (request.hold) await releaseHold(this.tables)({ keyId: key.id, requestId, hold: request.hold, cost })
  }

  async sweep({ key, open }: Used, request: Request): Promise<void> {
    open.splice(open.indexOf(request), 1)
    const { finishHold } = closerAt(this.tables, () => this.ms).instance
    if (request.hold) await finishHold(key.id, { requestId: request.row.requestId, ...request.hold })
  }

  /** Its pause is one, of this time. */
  async close(): Promise<void> {
    const pause = async (ms: number) => {
      this.ms += ms
    }
    await closerAt(this.tables, () => this.operatorMs, { pause }).run()
  }

  async usage(how: 'kept' | 'fresh', of?: string, fromMs = FIRST_MS, toMs = this.operatorMs + CLOCK_MARGIN_MS) {
    this.#reading = how
    const settled = how === 'kept' ? this.settled : new SettledUsage(() => this.ms)
    const parts = new Map<string, UsagePart>()
    for await (const { keyId, day, part } of usageOfDays(this.tables, of, { fromMs, toMs }, this.operatorMs, settled)) {
      const name = JSON.stringify([day, keyId, part.model, part.provider])
      const before = parts.get(name)
      parts.set(name, before ? addParts(before, part) : part)
    }
    this.#reading = undefined
    return new Map([...parts].sort(([a], [b]) => (a < b ? -1 : 1)))
  }

  async attempts(how: 'kept' | 'fresh') {
    const keys = await Array.fromAsync(listKeys(this.tables)())
    this.#reading = how
    const settled = how === 'kept' ? this.settled : new SettledUsage(() => this.ms)
    const attempts = await attemptsOf24h(this.tables, keys, this.operatorMs, settled)
    this.#reading = undefined
    return attempts
  }

  async expectSame(of?: string, fromMs?: number, toMs?: number): Promise<void> {
    const fresh = await this.usage('fresh', of, fromMs, toMs)
    expect(await this.usage('kept', of, fromMs, toMs)).toEqual(fresh)
  }

  async expectSameAttempts(): Promise<void> {
    const fresh = await this.attempts('fresh')
    expect(await this.attempts('kept')).toEqual(fresh)
  }

  async expectAllSame(): Promise<void> {
    await this.expectSame()
    await this.expectSameAttempts()
  }
}

async function randomStep(world: World): Promise<void> {
  const { random, used } = world
  const of = random.pick(used)
  const request = random.pick(of.open)
  if (random.chance(0.03) && used.length < 6) await world.makeKey()
  else if (random.chance(0.03)) await world.close()
  else if (!request || random.chance(0.4)) await world.begin(of)
  else if (world.ms <= request.endsByMs) await world.settle(of, request)
  // Nobody ends a request that took nothing and died. A sweep comes in its time, or was away.
  else if (!request.hold || world.operatorMs > request.hold.untilMs) await world.sweep(of, request)
}

function randomTime({ random, ms }: World): number {
  const nextDayMs = Math.ceil((ms + 1) / DAY_MS) * DAY_MS
  return random.pick([
    0.5,
    random.below(SECOND_MS),
    random.below(MINUTE_MS),
    random.below(FUNCTION_MS),
    random.below(FUNCTION_MS),
    random.below(2 * HOUR_MS),
    random.chance(0.2) ? nextDayMs - ms : 1,
    random.chance(0.2) ? nextDayMs + CLOSING_LAG_MS - CLOCK_MARGIN_MS - ms : INDEX_LAG_MS,
  ])
}

test.each([1, 2])(
  'usage, and attempts at routes, that go on from what was final are what a new reading finds, at every step of a history of late rows, dead requests, midnights, closed days and new keys (%i)',
  async (seed) => {
    const world = new World(await openTestTables(), seed)
    for (let i = 0; i < 3; i++) await world.makeKey()
    for (let step = 0; step < 80; step++) {
      await randomStep(world)
      world.ms += randomTime(world)
      await world.expectSame()
      if (world.random.chance(0.3)) await world.expectSameAttempts()
      if (step % 10 === 0) {
        await world.expectSame(world.random.pick(world.used).key.id)
        await world.expectSame(undefined, Math.floor(world.ms) - world.random.below(DAY_MS))
        await world.expectSame(undefined, undefined, Math.floor(world.ms) - world.random.below(6 * HOUR_MS))
      }
    }
    expect(world.read.kept).toBeLessThan(world.read.fresh / 2)
  },
)

describe('to the millisecond:', () => {
  let world: World
  let of: Used

  /** The gateway's clock is behind, the operator's ahead, and the index as late as it may be. */
  beforeAll(async () => {
    world = new World(await openTestTables(), 4)
    world.indexLag = () => INDEX_LAG_MS
    of = await world.makeKey(-CLOCK_MARGIN_MS)
  })

  const requests = async () => [...(await world.usage('kept')).values()].reduce((sum, part) => sum + part.requests, 0)

  test('the last row that may still come is not missed by who looked the moment before', async () => {
    world.ms = FIRST_MS + 10 * HOUR_MS
    const startedAtMs = Math.floor(world.ms) + of.clockMs
    const request = { row: world.row(of, startedAtMs), endsByMs: 0 }
    // As late as the rule for days allows.
    world.ms = startedAtMs + CLOSING_LAG_MS - CLOCK_MARGIN_MS
    expect(await requests()).toBe(0)
    world.ms += 0.5
    await world.settle(of, request)
    world.ms += INDEX_LAG_MS - 0.5
    expect(await requests()).toBe(0)
    world.ms += 0.5
    expect(await requests()).toBe(1)
    await world.expectAllSame()
  })

  test('a request that died is counted when its sweep comes, however late, and with it those of its millisecond and after', async () => {
    world.ms = FIRST_MS + 12 * HOUR_MS
    const before = await requests()
    const dead = await world.begin(of, undefined, 'completed')
    expect(dead.hold).toBeDefined()
    const { startedAtMs } = dead.row
    await world.settle(of, await world.begin(of, startedAtMs - 1))
    await world.settle(of, await world.begin(of, startedAtMs))
    await world.settle(of, await world.begin(of, startedAtMs + 1))
    for (let i = 0; i < 5; i++) {
      world.ms += 2 * HOUR_MS
      await world.expectAllSame()
    }
    expect(await requests()).toBe(before + 3)
    await world.sweep(of, dead)
    await world.expectAllSame()
    world.ms += INDEX_LAG_MS - 1
    await world.expectAllSame()
    world.ms += 1
    expect(await requests()).toBe(before + 4)
    world.ms += INDEX_LAG_MS
    await world.expectAllSame()
  })

  test.each([
    [2, INDEX_LAG_MS, 'sweep' as const],
    [4, 0, 'settle' as const],
  ])(
    'an admission that lands later than any should takes back what was final, until its row is in the index (day %i)',
    async (days, lagMs, end) => {
      world.ms = FIRST_MS + days * DAY_MS - HOUR_MS
      await world.settle(of, await world.begin(of))
      world.ms += 10 * HOUR_MS
      for (let i = 0; i < 3; i++) {
        await world.expectAllSame()
        world.ms += INDEX_LAG_MS
      }
      await world.expectAllSame()
      const late = await world.begin(of, FIRST_MS + days * DAY_MS - 3 * HOUR_MS, 'completed')
      expect(late.hold).toBeDefined()
      world.ms += 10
      await world.expectAllSame()
      world.ms += 10
      world.indexLag = () => lagMs
      await world[end](of, late)
      await world.expectAllSame()
      world.indexLag = () => INDEX_LAG_MS
      for (const untilMs of [INDEX_LAG_MS - 20, 20, 1, INDEX_LAG_MS]) {
        world.ms += untilMs
        await world.expectAllSame()
      }
    },
  )

  test('a row is settled when a day with it could be closed, and no key with an older hold says so', () => {
    const nowMs = FIRST_MS + 5 * HOUR_MS
    const holdAt = (ms: number) => ({ [makeRequestId(ms, new Uint8Array(10))]: { amount: 1n, untilMs: ms + HOLD_MS } })
    expect(settledBefore({ holds: {} }, nowMs)).toBe(nowMs - CLOSING_LAG_MS)
    expect(settledBefore({ holds: holdAt(nowMs - 5) }, nowMs)).toBe(nowMs - CLOSING_LAG_MS)
    expect(settledBefore({ holds: { ...holdAt(FIRST_MS + 7), ...holdAt(FIRST_MS + 9) } }, nowMs)).toBe(FIRST_MS + 7)
  })
})

test('who asks again reads only rows that were not final, and of a day that is over and not closed none', async () => {
  const world = new World(await openTestTables(), 5)
  world.indexLag = () => 0
  const of = await world.makeKey(0)
  for (let i = 0; i < 20; i++) {
    await world.settle(of, await world.begin(of))
    world.ms += HOUR_MS
  }
  const rowsRead = async (what: 'usage' | 'attempts' = 'usage') => {
    world.read.kept = 0
    await world[what]('kept')
    return world.read.kept
  }
  expect(await rowsRead()).toBe(20)
  world.ms += INDEX_LAG_MS - 1
  expect(await rowsRead()).toBe(20)
  world.ms += 1
  expect(await rowsRead()).toBe(20)
  // Those of the last CLOSING_LAG_MS, by a clock that is an hour ahead.
  expect(await rowsRead()).toBe(1)
  expect(await rowsRead('attempts')).toBe(20)
  expect(await rowsRead('attempts')).toBe(1)
  world.ms = FIRST_MS + 2 * DAY_MS
  await rowsRead()
  world.ms += INDEX_LAG_MS
  await rowsRead()
  expect(await rowsRead()).toBe(0)
})

test('rows that a restore brings, and rows that a stage no longer keeps, are those of a new reading', async () => {
  const world = new World(await openTestTables(), 6)
  world.indexLag = () => 0
  const of = await world.makeKey(0)
  const put = (startedAtMs: number, keepDays?: number) =>
    putUsageRow(world.tables, keepDays)(world.row(of, startedAtMs))
  const look = async () => {
    await world.expectAllSame()
    world.ms += INDEX_LAG_MS
    await world.expectAllSame()
  }
  const { requestId } = await put(FIRST_MS + 1, 1)
  world.ms = FIRST_MS + DAY_MS - HOUR_MS - 2 * INDEX_LAG_MS
  await look()
  await look()
  world.ms = FIRST_MS + DAY_MS
  await world.tables.database.delete({ TableName: world.tables.usage, Key: rowKey(requestId) })
  await world.expectAllSame()

  await world.tables.database.put({ TableName: world.tables.usage, Item: HALT_ITEM })
  await put(FIRST_MS + 3 * HOUR_MS)
  await world.expectAllSame()
  world.indexLag = () => INDEX_LAG_MS
  world.ms += 1
  await put(FIRST_MS + 3 * HOUR_MS + 1)
  await world.tables.database.delete({ TableName: world.tables.usage, Key: HALT_ITEM })
  world.ms += INDEX_LAG_MS - 1
  await world.expectAllSame()
  world.ms += 1
  await look()
  await look()
})
