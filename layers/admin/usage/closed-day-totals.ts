import type { DayTotal } from '../../gateway/domain/day-total.ts'
import type { Tables } from '../../gateway/store/tables.ts'
import { queryDayTotals } from '../../gateway/store/usage/day-totals.ts'

/** A month: for 500 keys with six routes each, some 25 MB. */
const MOST_DAYS = 31

const known = new WeakMap<object, Map<string, Promise<readonly DayTotal[]>>>()

/** The totals of all keys on a closed day. They never change, so they are cached in memory. */
export function closedDayTotals(tables: Tables, day: string): Promise<readonly DayTotal[]> {
  const days = known.get(tables.database) ?? new Map<string, Promise<readonly DayTotal[]>>()
  known.set(tables.database, days)
  const before = days.get(day)
  const totals = before ?? Array.fromAsync(queryDayTotals(tables)(day))
  remember(days, day, totals, MOST_DAYS)
  totals.catch(() => days.delete(day))
  return totals
}

/** Keeps a value as the most recently used one, and drops the oldest beyond the limit. */
export function remember<Value>(known: Map<string, Value>, name: string, value: Value, most: number): void {
  known.delete(name)
  known.set(name, value)
  for (const oldest of known.keys()) {
    if (known.size <= most) break
    known.delete(oldest)
  }
}
