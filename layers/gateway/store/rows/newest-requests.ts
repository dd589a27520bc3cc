import { DAY_MS, ulidTimeMs } from '../../domain/basics/time.ts'
import type { UsageRow } from '../../domain/rows/usage-row.ts'
import type { Tables } from '../dynamodb/database.ts'
import { mergeRows, partOfPage } from './merge-rows.ts'
import { ROW_SHARDS } from './usage-item.ts'
import { idsOf, type LanedKey, queryRowsOfDay, queryUsageRows, readLanedKey, type TimeRange } from './usage-rows.ts'

type Wanted = {
  /** Undefined for all keys. */
  readonly keyIds: readonly string[] | undefined
  readonly range: TimeRange
  readonly limit: number
  readonly after?: string | undefined
  readonly matches: (row: UsageRow) => boolean
  /** The most rows that are looked at, in place of `MOST_ROWS`. */
  readonly mostRows?: number
}

/** The most rows that are looked at for a page: a filter that few rows pass does not read a busy day to its end. */
const MOST_ROWS = 20_000
/** The most days, fewer of many keys or lanes: a range without rows is not searched to its end. */
const MOST_DAYS = 250

/** A page may need more than one call may read: then it has fewer rows, or none. `next`: the id to go on from, if there is more. */
export async function newestRequests(tables: Tables, wanted: Wanted) {
  const { range, limit, after, matches, mostRows = MOST_ROWS } = wanted
  const rows: UsageRow[] = []
  const keys = wanted.keyIds && (await Promise.all(wanted.keyIds.map(readLanedKey(tables))))
  const queries = keys?.reduce((sum, { lanes }) => sum + lanes, 0) ?? 0
  const afterMs = after === undefined ? Infinity : ulidTimeMs(after) + 1
  let [seen, days] = [0, 0]
  for (let toMs = Math.min(range.toMs, afterMs); toMs > range.fromMs; days++) {
    const dayMs = Math.floor((toMs - 1) / DAY_MS) * DAY_MS
    const fromMs = Math.max(range.fromMs, dayMs)
    if (days * Math.max(ROW_SHARDS, queries) >= MOST_DAYS * ROW_SHARDS)
      return { rows, next: idsOf({ fromMs, toMs }).lastId }
    for await (const row of rowsOfDay(tables, wanted, keys, { fromMs, toMs })) {
      if (after !== undefined && row.requestId >= after) continue
      if (rows.length === limit) return { rows, next: (rows.at(-1) as UsageRow).requestId }
      if (matches(row)) rows.push(row)
      seen += 1
      if (seen === mostRows && rows.length < limit) return { rows, next: row.requestId }
    }
    toMs = fromMs
  }
  return { rows, next: undefined }
}

function rowsOfDay(
  tables: Tables,
  { limit }: Wanted,
  keys: readonly LanedKey[] | undefined,
  range: TimeRange,
): AsyncIterable<UsageRow> {
  const pageSize = partOfPage(limit + 1, keys ? 1 : ROW_SHARDS)
  const lists = keys
    ? keys.map((key) => queryUsageRows(tables)(key, range, 'newest first', pageSize))
    : queryRowsOfDay(tables)(range.fromMs, idsOf(range), 'newest first', pageSize)
  return mergeRows(lists, 'newest first')
}
