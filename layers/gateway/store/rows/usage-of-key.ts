import { utcDay } from '../../domain/basics/time.ts'
import type { Key } from '../../domain/keys/key.ts'
import { daysFrom, earliestRowMs, momentsOf } from '../../domain/rows/closed-day.ts'
import { DayCounter, type UsagePart } from '../../domain/rows/day-total.ts'
import { mapConcurrently } from '../../platform/map-concurrently.ts'
import type { Tables } from '../dynamodb/database.ts'
import { readClosing } from './closing.ts'
import { readDayTotal } from './day-totals.ts'
import { queryUsageRows, type TimeRange } from './usage-rows.ts'

type UsageOfKey = { readonly atMs: number; readonly part: UsagePart }

const AT_ONCE = 16

/** The rows that a reader may still read, and the ranges that it had to leave out. */
export type RowBudget = { rows: number; readonly leftOut: TimeRange[]; readonly nowMs: number }

const UNLIMITED: RowBudget = { rows: Infinity, leftOut: [], nowMs: 0 }

/** A whole closed day is read from its total, another from its rows, newest first, while the budget lasts. */
export async function* usageOfKey(
  tables: Tables,
  key: Key,
  range: TimeRange,
  budget: RowBudget = UNLIMITED,
): AsyncGenerator<UsageOfKey> {
  const { closedThrough = '' } = await readClosing(tables)()
  const days = daysFrom(utcDay(Math.max(range.fromMs, earliestRowMs(key))), utcDay(range.toMs - 1))
  yield* mapConcurrently(days, AT_ONCE, async (day) => {
    const parts = day <= closedThrough ? await partsOfClosed(day) : await partsOfRows(day)
    return parts.map((part) => ({ atMs: momentsOf(day).fromMs, part }))
  })

  async function partsOfClosed(day: string): Promise<readonly UsagePart[]> {
    const total = await readDayTotal(tables)(key.id, day)
    const { fromMs, toMs } = momentsOf(day)
    if (!total || (range.fromMs <= fromMs && toMs <= range.toMs)) return total?.parts ?? []
    if ((total.rowsUntilMs ?? Infinity) > budget.nowMs) return partsOfRows(day)
    budget.leftOut.push(within(day))
    return []
  }

  /** Added up while reading: a busy day has more rows than fit in memory. */
  async function partsOfRows(day: string): Promise<readonly UsagePart[]> {
    const ofDay = within(day)
    const counter = new DayCounter(key.id, day)
    let lastMs = ofDay.toMs
    for await (const row of queryUsageRows(tables, 'sums')(key.id, ofDay)) {
      // A millisecond is read to its end, so that the range that is left out has all of its rows.
      if (budget.rows <= 0 && row.startedAtMs < lastMs) {
        budget.leftOut.push({ fromMs: ofDay.fromMs, toMs: lastMs })
        break
      }
      counter.add(row)
      budget.rows -= 1
      lastMs = row.startedAtMs
    }
    return counter.total().parts
  }

  function within(day: string): TimeRange {
    const { fromMs, toMs } = momentsOf(day)
    return { fromMs: Math.max(range.fromMs, fromMs), toMs: Math.min(range.toMs, toMs) }
  }
}
