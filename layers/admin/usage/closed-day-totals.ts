import type { DayTotal } from '../../gateway/domain/day-total.ts'
import type { Tables } from '../../gateway/store/tables.ts'
import { queryDayTotals } from '../../gateway/store/usage/day-totals.ts'
import { remember } from './remember.ts'

/** A month: of 500 keys with six routes each it is some 25 MB. */
const MOST_DAYS = 31

const known = new WeakMap<object, Map<string, Promise<readonly DayTotal[]>>>()

/**
 * The totals of all keys on a day whose totals are all there. They are never changed, so a console that is asked for the
 * same month again reads it from its memory.
 */
export function closedDayTotals(tables: Tables, day: string): Promise<readonly DayTotal[]> {
  const days = known.get(tables.database) ?? new Map<string, Promise<readonly DayTotal[]>>()
  known.set(tables.database, days)
  const before = days.get(day)
  const totals = before ?? Array.fromAsync(queryDayTotals(tables)(day))
  remember(days, day, totals, MOST_DAYS)
  totals.catch(() => days.delete(day))
  return totals
}
