import type { UsageRow } from '../../domain/rows/usage-row.ts'
import type { Tables } from '../dynamodb/database.ts'
import { mergeRows } from './merge-rows.ts'
import { daysOf, idsOf, queryRowsOfDay, queryUsageRows, type TimeRange } from './usage-rows.ts'

const ORDER = 'oldest first'

export async function* usageRows(
  tables: Tables,
  keyIds: readonly string[] | undefined,
  range: TimeRange,
): AsyncGenerator<UsageRow> {
  for (const keyId of keyIds ?? []) yield* queryUsageRows(tables)(keyId, range, ORDER)
  if (keyIds) return
  const query = queryRowsOfDay(tables)
  for (const dayMs of daysOf(range, ORDER)) yield* mergeRows(query(dayMs, idsOf(range), ORDER), ORDER)
}
