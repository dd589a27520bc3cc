import type { UsageRow } from '../../gateway/domain/rows/usage-row.ts'
import type { Tables } from '../../gateway/store/dynamodb/tables.ts'
import { mergeRows } from '../../gateway/store/rows/newest-requests.ts'
import {
  daysOf,
  idsOf,
  queryRowsOfDay,
  queryUsageRows,
  type RowOrder,
  type TimeRange,
} from '../../gateway/store/rows/usage-rows.ts'

export async function* usageRows(
  tables: Tables,
  keyId: string | undefined,
  range: TimeRange,
  order: RowOrder = 'newest first',
): AsyncGenerator<UsageRow, void, undefined> {
  if (keyId !== undefined) yield* queryUsageRows(tables)(keyId, range, order)
  else {
    const query = queryRowsOfDay(tables)
    for (const dayMs of daysOf(range, order)) yield* mergeRows(query(dayMs, idsOf(range), order), order)
  }
}
