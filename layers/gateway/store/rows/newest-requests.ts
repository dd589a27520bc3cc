import { DAY_MS } from '../../domain/basics/time.ts'
import { ulidTimeMs } from '../../domain/basics/ulid.ts'
import { byMoment } from '../../domain/rows/export-line.ts'
import type { UsageRow } from '../../domain/rows/usage-row.ts'
import type { Tables } from '../dynamodb/tables.ts'
import { ROW_SHARDS } from './usage-item.ts'
import { idsOf, queryRowsOfDay, queryUsageRows, type RowOrder, type TimeRange } from './usage-rows.ts'

type Wanted = {
  /** Undefined for all keys. */
  readonly keyIds: readonly string[] | undefined
  readonly range: TimeRange
  readonly limit: number
  readonly after?: string | undefined
  /** Undefined if every row matches. */
  readonly matches?: ((row: UsageRow) => boolean) | undefined
  /** The most rows that are looked at, in place of `MOST_ROWS`. */
  readonly mostRows?: number
}

/** The most rows that are looked at for a page: a filter that few rows pass does not read a busy day to its end. */
const MOST_ROWS = 20_000
/** Rows that are read at once of each partition if only some of them match. */
const FILTERED_PAGE = 500
const LEAST_PAGE = 8
/** The most days, fewer of many keys: a range without rows is not searched to its end. */
const MOST_DAYS = 250

/** A page may need more than one call may read: then it has fewer rows, or none. `next`: the id to go on from, if there is more. */
export async function newestRequests(tables: Tables, wanted: Wanted) {
  const { range, limit, after, matches, mostRows = MOST_ROWS, keyIds = [] } = wanted
  const rows: UsageRow[] = []
  const afterMs = after === undefined ? Infinity : ulidTimeMs(after) + 1
  let [seen, days] = [0, 0]
  for (let toMs = Math.min(range.toMs, afterMs); toMs > range.fromMs; days++) {
    const dayMs = Math.floor((toMs - 1) / DAY_MS) * DAY_MS
    const fromMs = Math.max(range.fromMs, dayMs)
    if (days * Math.max(ROW_SHARDS, keyIds.length) >= MOST_DAYS * ROW_SHARDS)
      return { rows, next: idsOf({ fromMs, toMs }).lastId }
    for await (const row of rowsOfDay(tables, wanted, { fromMs, toMs })) {
      if (after !== undefined && row.requestId >= after) continue
      if (rows.length === limit) return { rows, next: (rows.at(-1) as UsageRow).requestId }
      if (matches?.(row) !== false) rows.push(row)
      seen += 1
      if (seen === mostRows && rows.length < limit) return { rows, next: row.requestId }
    }
    toMs = fromMs
  }
  return { rows, next: undefined }
}

function rowsOfDay(tables: Tables, { keyIds, limit, matches }: Wanted, range: TimeRange): AsyncIterable<UsageRow> {
  // A page of a day's partitions needs a part of each, and more of one only by chance.
  const share = keyIds ? 1 : ROW_SHARDS / 2
  const pageSize = matches ? FILTERED_PAGE : Math.max(LEAST_PAGE, Math.ceil((limit + 1) / share))
  if (keyIds) {
    const lists = keyIds.map((keyId) => queryUsageRows(tables)(keyId, range, 'newest first', pageSize))
    return mergeRows(lists, 'newest first')
  }
  const { fromMs } = range
  return mergeRows(queryRowsOfDay(tables)(fromMs, idsOf(range), 'newest first', pageSize), 'newest first')
}

/** Lists of rows that are each in the order of time as one list in the order of ids, which is that of time, too. */
export async function* mergeRows(
  lists: readonly AsyncGenerator<UsageRow>[],
  order: RowOrder,
): AsyncGenerator<UsageRow, void, undefined> {
  const isBefore = (a: string, b: string) => (order === 'oldest first' ? a < b : a > b)
  const heads = await Promise.all(lists.map((list) => headOf(inOrder(list, order))))
  for (;;) {
    const first = heads.reduce<Head | undefined>((least, head) => {
      if (!head.row) return least
      return least?.row && isBefore(least.row.requestId, head.row.requestId) ? least : head
    }, undefined)
    if (!first?.row) return
    yield first.row
    first.row = (await first.rest.next()).value ?? undefined
  }
}

type Head = { row: UsageRow | undefined; readonly rest: AsyncGenerator<UsageRow, void, undefined> }

async function headOf(rest: AsyncGenerator<UsageRow, void, undefined>): Promise<Head> {
  return { row: (await rest.next()).value ?? undefined, rest }
}

/** An index sorts rows of the same millisecond in no order. */
async function* inOrder(list: AsyncIterable<UsageRow>, order: RowOrder): AsyncGenerator<UsageRow, void, undefined> {
  for await (const { rows } of byMoment(list)) yield* order === 'oldest first' ? rows : rows.toReversed()
}
