import { CLOCK_MARGIN_MS, earliestRowMs } from '../../gateway/domain/closed-day.ts'
import type { UsageRow } from '../../gateway/domain/usage-row.ts'
import { listKeys } from '../../gateway/store/keys/read-key.ts'
import type { OperatorTables } from '../../gateway/store/operator-tables.ts'
import { queryUsageRows, type RowOrder, type TimeRange } from '../../gateway/store/usage/usage-rows.ts'
import { knownKey } from '../api/known-key.ts'

export async function* usageRows(
  tables: OperatorTables,
  keyId: string | undefined,
  range: TimeRange,
  order?: RowOrder,
): AsyncGenerator<UsageRow, void, undefined> {
  const query = queryUsageRows(tables)
  const keys = keyId === undefined ? listKeys(tables)() : [await knownKey(tables, keyId)]
  for await (const key of keys)
    yield* query(key.id, { ...range, fromMs: Math.max(range.fromMs, earliestRowMs(key)) }, order)
}

/** After this time there can be no rows yet, even if a gateway's clock is ahead of the operator's. */
export function latestRowMs(nowMs: number): number {
  return nowMs + CLOCK_MARGIN_MS
}
