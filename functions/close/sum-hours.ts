import { DAY_MS, HOUR_MS, utcDay } from '../../layers/gateway/domain/basics/time.ts'
import { momentsOf } from '../../layers/gateway/domain/rows/closed-day.ts'
import { addTo, emptyPart, sumsOf } from '../../layers/gateway/domain/rows/day-total.ts'
import { UsageSum } from '../../layers/gateway/domain/rows/usage-sum.ts'
import type { Tables } from '../../layers/gateway/store/dynamodb/database.ts'
import { queryDayTotals } from '../../layers/gateway/store/rows/day-totals.ts'
import {
  hourOf,
  putUsageSum,
  readUsageSums,
  type Span,
  SUM_KINDS,
  sumRows,
} from '../../layers/gateway/store/rows/hour-sums.ts'

/** Hours whose rows are read together, so that a run that has to catch up keeps some of its work if it is killed. */
const HOURS_TOGETHER = 6

/** Adds up the whole hours between two moments, as far as the time goes, and tells each hour through which it has come. */
export function hourSummer(tables: Tables, hasTime: () => boolean) {
  const sum = sumRows(tables)
  const put = putUsageSum(tables)

  return async (firstMs: number, beforeMs: number, noteThrough: (hour: Span) => Promise<void>): Promise<void> => {
    const endMs = Math.floor(beforeMs / HOUR_MS) * HOUR_MS
    for (let fromMs = firstMs; fromMs < endMs && hasTime(); ) {
      const midnightMs = Math.floor(fromMs / DAY_MS) * DAY_MS + DAY_MS
      const toMs = Math.min(endMs, midnightMs, fromMs + HOURS_TOGETHER * HOUR_MS)
      for (const [hour, ofHour] of await sum({ fromMs, toMs })) await put(hour, ofHour)
      // Before the last hour is noted, because a reader takes the day's own sum from then on.
      if (toMs === midnightMs) await sumDay(utcDay(fromMs))
      await noteThrough(hourOf(toMs - 1))
      fromMs = toMs
    }
  }

  async function sumDay(day: string): Promise<void> {
    const { fromMs, toMs } = momentsOf(day)
    const whole = new UsageSum()
    for (const kind of SUM_KINDS) {
      for await (const { sum: ofHour } of readUsageSums(tables, kind)(hourOf(fromMs), hourOf(toMs - 1)))
        whole.add(ofHour)
    }
    await put(day, whole)
  }
}

/** True if the sum of a closed day is not that of its keys' totals: a row came after its hour was added up. */
export async function hasLateRows(tables: Tables, day: string): Promise<boolean> {
  const [totals, sums] = [emptyPart(), emptyPart()]
  for await (const { parts } of queryDayTotals(tables)(day)) for (const part of parts) addTo(totals, part)
  for await (const { sum } of readUsageSums(tables, 'keys')(day)) {
    for (const part of sum.keys.values()) addTo(sums, part)
  }
  const [all, ours] = [sumsOf({ parts: [totals] }), sumsOf({ parts: [sums] })]
  return all.requests !== ours.requests || all.cost !== ours.cost
}
