import { birthOf, CLOCK_MARGIN_MS } from '../layers/gateway/domain/closed-day.ts'
import type { UsageRow } from '../layers/gateway/domain/usage-row.ts'
import { listKeys } from '../layers/gateway/store/keys/list-keys.ts'
import type { OperatorTables } from '../layers/gateway/store/operator-tables.ts'
import { queryUsageRows, type RowOrder, type TimeRange } from '../layers/gateway/store/usage/query-usage-rows.ts'
import { knownKey } from './known-key.ts'

/** The rows of one key or of all, key by key. */
export async function* usageRows(
  tables: OperatorTables,
  keyId: string | undefined,
  range: TimeRange,
  order?: RowOrder,
): AsyncGenerator<UsageRow, void, undefined> {
  const query = queryUsageRows(tables)
  const keys = keyId === undefined ? listKeys(tables)() : [await knownKey(tables, keyId)]
  for await (const key of keys) yield* query(key.id, { ...range, fromMs: Math.max(range.fromMs, birthOf(key)) }, order)
}

/** After this there can be no rows yet, though a gateway's clock may be ahead of the operator's. */
export function horizonOf(nowMs: number): number {
  return nowMs + CLOCK_MARGIN_MS
}

/** The newest rows of all keys together. Holds no more than twice the limit at a time. */
export async function newestRows(rows: AsyncIterable<UsageRow>, limit: number): Promise<UsageRow[]> {
  const newest = (list: UsageRow[]) => list.sort((a, b) => b.startedAtMs - a.startedAtMs).slice(0, limit)
  let kept: UsageRow[] = []
  for await (const row of rows) {
    kept.push(row)
    if (kept.length >= limit * 2) kept = newest(kept)
  }
  return newest(kept)
}
