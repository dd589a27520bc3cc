import { CLOCK_MARGIN_MS, earliestRowMs } from '../../gateway/domain/rows/closed-day.ts'
import type { UsageRow } from '../../gateway/domain/rows/usage-row.ts'
import { mergeRows } from '../../gateway/store/rows/newest-requests.ts'
import {
  daysOf,
  idsOf,
  queryRowsOfDay,
  queryUsageRows,
  type RowOrder,
  type TimeRange,
} from '../../gateway/store/rows/usage-rows.ts'
import type { OperatorTables } from '../../gateway/store/sdk/operator-tables.ts'
import { knownKey } from '../api/known-key.ts'

/** The rows of a key or of all keys, in the order of time. */
export async function* usageRows(
  tables: OperatorTables,
  keyId: string | undefined,
  range: TimeRange,
  order: RowOrder = 'newest first',
): AsyncGenerator<UsageRow, void, undefined> {
  if (keyId === undefined) {
    const query = queryRowsOfDay(tables)
    for (const dayMs of daysOf(range, order)) yield* mergeRows(query(dayMs, idsOf(range), order), order)
    return
  }
  const key = await knownKey(tables, keyId)
  const fromMs = Math.max(range.fromMs, earliestRowMs(key))
  yield* queryUsageRows(tables)(key.id, { ...range, fromMs }, order)
}

/** After this time there can be no rows yet, even if a gateway's clock is ahead of the operator's. */
export function latestRowMs(nowMs: number): number {
  return nowMs + CLOCK_MARGIN_MS
}
