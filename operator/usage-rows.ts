import type { UsageRow } from '../layers/gateway/domain/usage-row.ts'
import { listKeys } from '../layers/gateway/store/list-keys.ts'
import { queryUsageRows } from '../layers/gateway/store/query-usage-rows.ts'
import type { Tables } from '../layers/gateway/store/tables.ts'

/** The rows of one key or of all, each key's newest first. */
export async function* usageRows(
  tables: Tables,
  keyId: string | undefined,
  sinceMs: number,
  nowMs: number,
): AsyncGenerator<UsageRow, void, undefined> {
  const query = queryUsageRows(tables)
  if (keyId !== undefined) yield* query(keyId, sinceMs, nowMs)
  else for await (const key of listKeys(tables)()) yield* query(key.id, sinceMs, nowMs)
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
