import { momentsOf } from '../../layers/gateway/domain/closed-day.ts'
import { DAY_MS, HOUR_MS, utcDay } from '../../layers/gateway/domain/time.ts'
import { UsageSum } from '../../layers/gateway/domain/usage-sum.ts'
import type { Tables } from '../../layers/gateway/store/tables.ts'
import { noteClosing } from '../../layers/gateway/store/usage/closing.ts'
import { hourOf, putUsageSum, readUsageSums, SUM_KINDS } from '../../layers/gateway/store/usage/hour-sums.ts'
import { sumRows } from '../../layers/gateway/store/usage/sum-rows.ts'

/** Hours whose rows are read together, so that a run that has to catch up keeps some of its work if it is killed. */
const HOURS_TOGETHER = 6

/** Adds up the whole hours between two moments, as far as the time goes. Nothing may change before the second one. */
export function hourSummer(tables: Tables, hasTime: () => boolean) {
  const sum = sumRows(tables)
  const put = putUsageSum(tables)
  const note = noteClosing(tables)

  return async (firstMs: number, beforeMs: number): Promise<void> => {
    const endMs = Math.floor(beforeMs / HOUR_MS) * HOUR_MS
    for (let fromMs = firstMs; fromMs < endMs && hasTime(); ) {
      const midnightMs = Math.floor(fromMs / DAY_MS) * DAY_MS + DAY_MS
      const toMs = Math.min(endMs, midnightMs, fromMs + HOURS_TOGETHER * HOUR_MS)
      for (const [hour, ofHour] of await sum({ fromMs, toMs })) await put(hour, ofHour)
      // Before the last hour is noted, because a reader takes the day's own sum from then on.
      if (toMs === midnightMs) await sumDay(utcDay(fromMs))
      await note({ summedThrough: hourOf(toMs - 1) })
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
