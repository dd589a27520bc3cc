import { DAY_MS, isoTime } from '../../domain/basics/time.ts'
import type { DayTotal } from '../../domain/rows/day-total.ts'
import { USAGE_ITEMS } from '../../names.ts'
import type { Tables } from '../dynamodb/tables.ts'
import { itemsOfDay, toDayTotal, toTotalItem } from './day-totals.ts'

/**
 * The rows of a key and a day that began before a time, added up: a total in the making, if one run has no time for all
 * rows. Sum and time are one item, and these rows do not change any more, so no row can be counted twice or left out.
 */
export type DaySum = { readonly total: DayTotal; readonly beforeMs: number }

/** Long after the next run. Without its sum a key is added up from the first row again. */
const KEPT_MS = 7 * DAY_MS

export const DAY_SUMS = `${USAGE_ITEMS.day}SUM#`
const sumsOfDay = (day: string) => `${DAY_SUMS}${day}`

export function putDaySum({ database, usage }: Tables) {
  return async ({ total, beforeMs }: DaySum, nowMs: number): Promise<void> => {
    const Item = {
      ...toTotalItem(total, sumsOfDay(total.day)),
      before: isoTime(beforeMs),
      expiresAt: Math.ceil((nowMs + KEPT_MS) / 1000),
    }
    await database.put({ TableName: usage, Item })
  }
}

/** The sums of a day by key. */
export function readDaySums(tables: Tables) {
  return async (day: string): Promise<ReadonlyMap<string, DaySum>> => {
    const sums = new Map<string, DaySum>()
    for await (const item of itemsOfDay(tables, sumsOfDay(day))) {
      const total = toDayTotal(item)
      sums.set(total.keyId, { total, beforeMs: Date.parse(item.before as string) })
    }
    return sums
  }
}
