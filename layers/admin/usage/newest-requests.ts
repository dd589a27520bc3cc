import { earliestRowMs } from '../../gateway/domain/closed-day.ts'
import type { Key } from '../../gateway/domain/key.ts'
import { DAY_MS } from '../../gateway/domain/time.ts'
import type { UsageRow } from '../../gateway/domain/usage-row.ts'
import type { Tables } from '../../gateway/store/tables.ts'
import { queryUsageRows, type TimeRange } from '../../gateway/store/usage/usage-rows.ts'
import { mapConcurrently } from './map-concurrently.ts'

/** The last row of a page. Rows are ordered by their start and then by their id, the newest first. */
export type RowCursor = { readonly ms: number; readonly requestId: string }

type Wanted = {
  readonly keys: readonly Key[]
  readonly range: TimeRange
  readonly limit: number
  readonly after: RowCursor | undefined
  /** Undefined if every row matches. */
  readonly matches?: ((row: UsageRow) => boolean) | undefined
}

type Found = {
  readonly rows: readonly UsageRow[]
  /** The cursor of the next page; undefined at the end. */
  readonly next: RowCursor | undefined
}

const QUERIES_AT_ONCE = 16
/** Rows of a key that are read at once, however many keys there are. */
const LEAST_STEP = 4
/** The most rows of one key and day: a filter that few rows pass does not read a busy day to its end. */
const MOST_ROWS = 2_000
/** The most queries for all keys and days: a range without rows is not searched to its end. */
const MOST_QUERIES = 2_000
/** Sorts after every request id of a moment. */
const FIRST_ID = '~'

/**
 * The newest rows of these keys, day by day, each day by a query for each key. A page may need more than one call may
 * read: then there are fewer rows than wanted, or none, and a cursor to go on from.
 */
export async function newestRequests(tables: Tables, { keys, range, limit, after, matches }: Wanted): Promise<Found> {
  const rows: UsageRow[] = []
  let queries = 0
  for (let toMs = Math.min(range.toMs, (after?.ms ?? Infinity) + 1); toMs > range.fromMs; ) {
    const dayMs = Math.floor((toMs - 1) / DAY_MS) * DAY_MS
    const day = { fromMs: Math.max(range.fromMs, dayMs), toMs }
    const used = keys.filter((key) => earliestRowMs(key) < toMs)
    const reads = await readDay(used, day, limit + 1 - rows.length)
    queries += used.length
    // The older rows of a key that was not read to the end of its day are unknown, so older rows of other keys wait.
    const knownFromMs = Math.max(...reads.map((read) => read.knownFromMs), day.fromMs)
    rows.push(...inOrder(reads).filter(({ startedAtMs }) => startedAtMs >= knownFromMs))
    if (rows.length > limit) return { rows: rows.slice(0, limit), next: cursorOf(rows[limit - 1] as UsageRow) }
    toMs = knownFromMs
    const isSplit = knownFromMs > day.fromMs
    if (toMs > range.fromMs && (isSplit || queries >= MOST_QUERIES))
      return { rows, next: { ms: toMs - 1, requestId: FIRST_ID } }
  }
  return { rows, next: undefined }

  /** Reads a few rows of each key, and more only of keys whose next row may be among the newest. */
  async function readDay(used: readonly Key[], day: TimeRange, wanted: number): Promise<Read[]> {
    const step = Math.min(limit + 2, LEAST_STEP + Math.ceil((2 * wanted) / used.length))
    const query = queryUsageRows(tables)
    const reads = used.map(({ id }): Read => {
      const rest = query(id, day, 'newest first', matches ? undefined : step)[Symbol.asyncIterator]()
      return { rest, rows: [], count: 0, lastMs: day.toMs, knownFromMs: day.toMs, isDone: false }
    })
    for (let behind = reads; behind.length > 0; ) {
      for await (const _ of mapConcurrently(behind, QUERIES_AT_ONCE, (read) => readOn(read, day, step)));
      const lastWantedMs = inOrder(reads)[wanted - 1]?.startedAtMs ?? day.fromMs
      behind = reads.filter(({ isDone, knownFromMs }) => !isDone && knownFromMs > lastWantedMs)
    }
    return reads
  }

  async function readOn(read: Read, day: TimeRange, step: number): Promise<[]> {
    for (const enough = read.rows.length + step; read.rows.length < enough; ) {
      const { done, value: row } = await read.rest.next()
      // Rows of the same millisecond come in no order, so a reading ends only between two milliseconds.
      if (done || (read.count >= MOST_ROWS && row.startedAtMs < read.lastMs)) {
        Object.assign(read, { isDone: true, knownFromMs: done ? day.fromMs : read.lastMs })
        return []
      }
      read.count += 1
      read.lastMs = row.startedAtMs
      read.knownFromMs = row.startedAtMs + 1
      if (isBehind(row, after) && matches?.(row) !== false) read.rows.push(row)
    }
    return []
  }
}

/** The progress of reading a key's day, from its end backwards. */
type Read = {
  readonly rest: AsyncIterator<UsageRow>
  readonly rows: UsageRow[]
  /** Includes rows that do not match. */
  count: number
  lastMs: number
  knownFromMs: number
  /** Read to the start of the day, or as far as one call may. */
  isDone: boolean
}

function inOrder(reads: readonly Read[]): UsageRow[] {
  return reads.flatMap(({ rows }) => rows).sort(newestFirst)
}

function cursorOf({ startedAtMs, requestId }: UsageRow): RowCursor {
  return { ms: startedAtMs, requestId }
}

function isBehind({ startedAtMs, requestId }: UsageRow, after: RowCursor | undefined): boolean {
  if (after === undefined || startedAtMs < after.ms) return true
  return startedAtMs === after.ms && requestId < after.requestId
}

function newestFirst(a: UsageRow, b: UsageRow): number {
  return b.startedAtMs - a.startedAtMs || (a.requestId > b.requestId ? -1 : 1)
}
