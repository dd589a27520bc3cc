import { DAY_MS, HOUR_MS, utcDay } from '../../gateway/domain/basics/time.ts'
import type { Key } from '../../gateway/domain/keys/key.ts'
import type { Nano } from '../../gateway/domain/money/money.ts'
import { daysFrom, latestRowMs, momentsOf } from '../../gateway/domain/rows/closed-day.ts'
import { UsageSum } from '../../gateway/domain/rows/usage-sum.ts'
import { mapConcurrently } from '../../gateway/platform/map-concurrently.ts'
import type { Tables } from '../../gateway/store/dynamodb/database.ts'
import { readClosing } from '../../gateway/store/rows/closing.ts'
import {
  hourOf,
  momentOfHour,
  readUsageSums,
  type Span,
  type SumKind,
  sumRows,
} from '../../gateway/store/rows/hour-sums.ts'
import { usageOfKey } from '../../gateway/store/rows/usage-of-key.ts'
import type { TimeRange } from '../../gateway/store/rows/usage-rows.ts'

export type UsageOfSpan = { readonly atMs: number; readonly sum: UsageSum }

export type ReadUsage = (range: TimeRange, kind: SumKind, step: 'hours' | 'days') => AsyncIterable<UsageOfSpan>

const DAYS_AT_ONCE = 16

/** Reads days and hours that are added up from their sums, and all else from rows, once for all ranges of a call. */
export function usageReader(tables: Tables): ReadUsage {
  const summed = readClosing(tables)().then(({ summedThrough }) =>
    summedThrough === undefined ? Number.NEGATIVE_INFINITY : momentOfHour(summedThrough) + HOUR_MS,
  )
  // It is awaited where usage is read, and a failure is thrown there.
  summed.catch(() => {})
  const live = new Map<string, Promise<readonly UsageOfSpan[]>>()
  return async function* read(range, kind, step) {
    if (range.fromMs >= range.toMs) return
    const summedMs = await summed
    const days = daysFrom(utcDay(range.fromMs), utcDay(range.toMs - 1))
    yield* mapConcurrently(days, DAYS_AT_ONCE, (day) => readDay(day, range, kind, step === 'days', summedMs))
  }

  async function readDay(day: string, range: TimeRange, kind: SumKind, isWhole: boolean, summedMs: number) {
    const whole = momentsOf(day)
    const [fromMs, toMs] = [Math.max(range.fromMs, whole.fromMs), Math.min(range.toMs, whole.toMs)]
    const isAll = fromMs === whole.fromMs && toMs === whole.toMs
    if (isWhole && isAll && whole.toMs <= summedMs) return readSums(kind, day)
    const firstMs = Math.ceil(fromMs / HOUR_MS) * HOUR_MS
    const lastMs = Math.floor(Math.min(toMs, summedMs) / HOUR_MS) * HOUR_MS
    if (firstMs >= lastMs) return readRows(fromMs, toMs)
    const parts = await Promise.all([
      readRows(fromMs, firstMs),
      readSums(kind, hourOf(firstMs), hourOf(lastMs - 1)),
      readRows(lastMs, toMs),
    ])
    return parts.flat()
  }

  async function readSums(kind: SumKind, first: Span, last?: Span): Promise<readonly UsageOfSpan[]> {
    const sums = await Array.fromAsync(readUsageSums(tables, kind)(first, last))
    return sums.map(({ span, sum }) => ({ atMs: momentOfSpan(span), sum }))
  }

  function readRows(fromMs: number, toMs: number): Promise<readonly UsageOfSpan[]> {
    if (fromMs >= toMs) return Promise.resolve([])
    const name = `${fromMs} ${toMs}`
    const spansOf = (sums: ReadonlyMap<Span, UsageSum>) =>
      Array.from(sums, ([span, sum]) => ({ atMs: momentOfSpan(span), sum }))
    const rows = live.get(name) ?? sumRows(tables)({ fromMs, toMs }).then(spansOf)
    live.set(name, rows)
    return rows
  }
}

function momentOfSpan(span: Span): number {
  return span.includes('T') ? momentOfHour(span) : Date.parse(span)
}

export async function sumOf(spans: AsyncIterable<UsageOfSpan>): Promise<UsageSum> {
  const all = new UsageSum()
  for await (const { sum } of spans) all.add(sum)
  return all
}

/** Each key's charge of the last week: of whole days, or of all rows so far if no day was ever closed. */
export async function weekCosts(tables: Tables, nowMs: number, read = usageReader(tables)) {
  const { keys } = await sumOf(read(await weekOf(tables, nowMs), 'keys', 'days'))
  return new Map([...keys].map(([id, { cost }]) => [id, cost]))
}

/** The same for one key, without reading those of all for it. */
export async function weekCostOf(tables: Tables, key: Key, nowMs: number): Promise<Nano> {
  let sum = 0n
  for await (const { part } of usageOfKey(tables, key, await weekOf(tables, nowMs))) sum += part.cost
  return sum
}

async function weekOf(tables: Tables, nowMs: number): Promise<TimeRange> {
  const { closedThrough } = await readClosing(tables)()
  const today = momentsOf(utcDay(nowMs))
  return { fromMs: today.fromMs - 7 * DAY_MS, toMs: closedThrough ? today.fromMs : latestRowMs(nowMs) }
}
