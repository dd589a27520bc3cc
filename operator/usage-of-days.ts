import { birthOf, daysFrom, momentsOf } from '../layers/gateway/domain/closed-day.ts'
import { DayCounter, type DayTotal, type UsagePart } from '../layers/gateway/domain/day-total.ts'
import type { Key } from '../layers/gateway/domain/key.ts'
import { utcDay } from '../layers/gateway/domain/limits.ts'
import { listKeys } from '../layers/gateway/store/keys/list-keys.ts'
import type { Tables } from '../layers/gateway/store/tables.ts'
import { queryUsageRows, type TimeRange } from '../layers/gateway/store/usage/query-usage-rows.ts'
import { readClosing, totalsThrough } from '../layers/gateway/store/usage/read-closing.ts'
import { readDayTotal } from '../layers/gateway/store/usage/read-day-total.ts'
import { atOnce } from './at-once.ts'
import { closedDayTotals } from './closed-day-totals.ts'
import { knownKey } from './known-key.ts'

/** Usage of a key on a day, for one model at one provider. */
export type UsageOfDay = { readonly keyId: string; readonly day: string; readonly part: UsagePart }

/** Queries under way at once. */
const AT_ONCE = 16

/**
 * The usage of one key or of all in a range, in no order. A whole day that is closed is read from its totals, a query for
 * all keys; a day that is not, or is in the range in part, from its rows, a query for each key.
 */
export async function* usageOfDays(
  tables: Tables,
  keyId: string | undefined,
  range: TimeRange,
  nowMs: number,
): AsyncGenerator<UsageOfDay, void, undefined> {
  const key = keyId === undefined ? undefined : await knownKey(tables, keyId)
  const closedThrough = totalsThrough(await readClosing(tables)(), nowMs) ?? ''
  const days = [...daysFrom(utcDay(range.fromMs), utcDay(range.toMs - 1))]
  const isTotal = (day: string) => day <= closedThrough && isWithin(momentsOf(day), range)

  const readTotals = async (day: string) => usageIn(await totalsOf(day))
  yield* atOnce(days.filter(isTotal), AT_ONCE, readTotals)
  const rest = days.filter((day) => !isTotal(day))
  const readRows = ({ of, day }: { of: Key; day: string }) => rowsOf(of, day)
  yield* atOnce(keysAndDays(rest), AT_ONCE, readRows)

  async function totalsOf(day: string): Promise<readonly DayTotal[]> {
    if (!key) return closedDayTotals(tables, day)
    const total = await readDayTotal(tables)(key.id, day)
    return total ? [total] : []
  }

  async function* keysAndDays(openDays: readonly string[]) {
    if (openDays.length === 0) return
    for await (const of of key ? [key] : listKeys(tables)()) {
      for (const day of openDays) if (momentsOf(day).toMs > birthOf(of)) yield { of, day }
    }
  }

  /** Added up at once: a busy day has more rows than memory. */
  async function rowsOf({ id }: Key, day: string): Promise<UsageOfDay[]> {
    const { fromMs, toMs } = momentsOf(day)
    const inRange = { fromMs: Math.max(fromMs, range.fromMs), toMs: Math.min(toMs, range.toMs) }
    const counter = new DayCounter(id, day)
    for await (const row of queryUsageRows(tables, 'sums')(id, inRange)) counter.add(row)
    return usageIn([counter.total()])
  }
}

function usageIn(totals: readonly DayTotal[]): UsageOfDay[] {
  return totals.flatMap(({ keyId, day, parts }) => parts.map((part) => ({ keyId, day, part })))
}

function isWithin(inner: TimeRange, outer: TimeRange): boolean {
  return outer.fromMs <= inner.fromMs && inner.toMs <= outer.toMs
}
