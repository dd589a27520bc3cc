import { HOUR_MS } from '../../domain/basics/time.ts'
import { UsageSum } from '../../domain/rows/usage-sum.ts'
import type { Tables } from '../dynamodb/tables.ts'
import { hourOf, type Span } from './hour-sums.ts'
import { daysOf, idsOf, queryRowsOfDay, type TimeRange } from './usage-rows.ts'

/** The rows of all keys in a range, added up by the hour. An hour without rows has no sum. */
export function sumRows(tables: Tables) {
  const rowsOfDay = queryRowsOfDay(tables, 'groups')
  return async (range: TimeRange): Promise<ReadonlyMap<Span, UsageSum>> => {
    const sums = new Map<number, UsageSum>()
    const add = async (rows: AsyncIterable<Parameters<UsageSum['addRow']>[0]>) => {
      for await (const row of rows) {
        const hour = Math.floor(row.startedAtMs / HOUR_MS)
        const sum = sums.get(hour) ?? new UsageSum()
        sums.set(hour, sum)
        sum.addRow(row)
      }
    }
    for (const dayMs of daysOf(range, 'oldest first')) {
      await Promise.all(rowsOfDay(dayMs, idsOf(range), 'oldest first').map(add))
    }
    return new Map([...sums].sort(([a], [b]) => a - b).map(([hour, sum]) => [hourOf(hour * HOUR_MS), sum]))
  }
}
