import { daysFrom, earliestRowMs, momentsOf } from '../../gateway/domain/closed-day.ts'
import { DayCounter, type UsagePart } from '../../gateway/domain/day-total.ts'
import type { Key } from '../../gateway/domain/key.ts'
import { HOUR_MS, utcDay } from '../../gateway/domain/time.ts'
import type { Tables } from '../../gateway/store/tables.ts'
import { readClosing } from '../../gateway/store/usage/closing.ts'
import { readDayTotal } from '../../gateway/store/usage/day-totals.ts'
import { queryUsageRows, type TimeRange } from '../../gateway/store/usage/usage-rows.ts'
import { mapConcurrently } from './map-concurrently.ts'

/** The usage of a key in an hour or a day, for one model at one provider. */
export type UsageOfKey = { readonly atMs: number; readonly part: UsagePart }

const AT_ONCE = 16

/** The usage of one key by day, in no order. A whole closed day is read from its total, another from its rows. */
export async function* usageOfKey(tables: Tables, key: Key, range: TimeRange): AsyncGenerator<UsageOfKey> {
  const { closedThrough = '' } = await readClosing(tables)()
  const days = daysFrom(utcDay(Math.max(range.fromMs, earliestRowMs(key))), utcDay(range.toMs - 1))
  yield* mapConcurrently(days, AT_ONCE, async (day) => {
    const whole = momentsOf(day)
    const isAll = range.fromMs <= whole.fromMs && whole.toMs <= range.toMs
    const ofDay = { fromMs: Math.max(range.fromMs, whole.fromMs), toMs: Math.min(range.toMs, whole.toMs) }
    const total = day <= closedThrough && isAll ? await readDayTotal(tables)(key.id, day) : await sumDay(day, ofDay)
    return (total?.parts ?? []).map((part) => ({ atMs: whole.fromMs, part }))
  })

  /** Added up while reading: a busy day has more rows than fit in memory. */
  async function sumDay(day: string, ofDay: TimeRange) {
    const counter = new DayCounter(key.id, day)
    for await (const row of queryUsageRows(tables, 'sums')(key.id, ofDay)) counter.add(row)
    return counter.total()
  }
}

/** The same by hour, always from rows: totals have no hours. */
export async function* usageOfKeyByHour(tables: Tables, { id }: Key, range: TimeRange): AsyncGenerator<UsageOfKey> {
  const hours = new Map<number, DayCounter>()
  for await (const row of queryUsageRows(tables, 'sums')(id, range)) {
    const atMs = Math.floor(row.startedAtMs / HOUR_MS) * HOUR_MS
    const counter = hours.get(atMs) ?? new DayCounter(id, utcDay(atMs))
    hours.set(atMs, counter)
    counter.add(row)
  }
  for (const [atMs, counter] of hours) for (const part of counter.total().parts) yield { atMs, part }
}
