import { birthOf } from '../../gateway/domain/closed-day.ts'
import type { Key } from '../../gateway/domain/key.ts'
import { DAY_MS } from '../../gateway/domain/time.ts'
import type { UsageRow } from '../../gateway/domain/usage-row.ts'
import type { Tables } from '../../gateway/store/tables.ts'
import { queryUsageRows, type TimeRange } from '../../gateway/store/usage/usage-rows.ts'
import { atOnce } from './at-once.ts'

/** A row's place in the list: rows are ordered by their beginning and then by their id, the last first. */
export type Place = { readonly ms: number; readonly requestId: string }

type Wanted = {
  readonly keys: readonly Key[]
  readonly range: TimeRange
  readonly limit: number
  /** Only rows behind this place. */
  readonly after: Place | undefined
  /** None if every row will do. */
  readonly matches?: ((row: UsageRow) => boolean) | undefined
}

type Found = {
  readonly rows: readonly UsageRow[]
  /** Where to go on; undefined at the end. */
  readonly next: Place | undefined
}

const QUERIES_AT_ONCE = 16
/** Rows of a key that are read at once, however many keys there are. */
const LEAST_STEP = 4
/** Of one key and day at a time: a filter that few rows pass does not read a busy day to its end. */
const MOST_ROWS = 2_000
/** Of all keys and days: a range without rows is not looked through to its end. */
const MOST_QUERIES = 2_000
/** Behind every row of a moment. */
const FIRST_ID = '~'

/**
 * The newest rows of these keys, day by day, each day by a query for each key. What is asked for may take more than one
 * call may read: then there are fewer rows than wanted, or none, and a place to go on from.
 */
export async function newestRequests(tables: Tables, { keys, range, limit, after, matches }: Wanted): Promise<Found> {
  const rows: UsageRow[] = []
  let queries = 0
  for (let toMs = Math.min(range.toMs, (after?.ms ?? Infinity) + 1); toMs > range.fromMs; ) {
    const dayMs = Math.floor((toMs - 1) / DAY_MS) * DAY_MS
    const day = { fromMs: Math.max(range.fromMs, dayMs), toMs }
    const used = keys.filter((key) => birthOf(key) < toMs)
    const reads = await readDay(used, day, limit + 1 - rows.length)
    queries += used.length
    // Of a key that was not read to the end of its day, older rows are unknown, so those of others wait.
    const knownFromMs = Math.max(...reads.map((read) => read.knownFromMs), day.fromMs)
    rows.push(...inOrder(reads).filter(({ startedAtMs }) => startedAtMs >= knownFromMs))
    if (rows.length > limit) return { rows: rows.slice(0, limit), next: placeOf(rows[limit - 1] as UsageRow) }
    toMs = knownFromMs
    const isSplit = knownFromMs > day.fromMs
    if (toMs > range.fromMs && (isSplit || queries >= MOST_QUERIES))
      return { rows, next: { ms: toMs - 1, requestId: FIRST_ID } }
  }
  return { rows, next: undefined }

  /** A few rows of each key, and more only of those whose next one may be among the newest so many. */
  async function readDay(used: readonly Key[], day: TimeRange, wanted: number): Promise<Read[]> {
    const step = Math.min(limit + 2, LEAST_STEP + Math.ceil((2 * wanted) / used.length))
    const query = queryUsageRows(tables)
    const reads = used.map(({ id }): Read => {
      const rest = query(id, day, 'newest first', matches ? undefined : step)[Symbol.asyncIterator]()
      return { rest, rows: [], count: 0, lastMs: day.toMs, knownFromMs: day.toMs, isDone: false }
    })
    for (let behind = reads; behind.length > 0; ) {
      for await (const _ of atOnce(behind, QUERIES_AT_ONCE, (read) => readOn(read, day, step)));
      const lastWantedMs = inOrder(reads)[wanted - 1]?.startedAtMs ?? day.fromMs
      behind = reads.filter(({ isDone, knownFromMs }) => !isDone && knownFromMs > lastWantedMs)
    }
    return reads
  }

  async function readOn(read: Read, day: TimeRange, step: number): Promise<[]> {
    for (const enough = read.rows.length + step; read.rows.length < enough; ) {
      const { done, value: row } = await read.rest.next()
      // Rows of the same millisecond come in no order, so where the reading ends they are read together.
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

/** How far the day of a key is read, from its end on. */
type Read = {
  readonly rest: AsyncIterator<UsageRow>
  readonly rows: UsageRow[]
  /** With those that do not match. */
  count: number
  lastMs: number
  knownFromMs: number
  /** To its begin, or as far as one call may. */
  isDone: boolean
}

function inOrder(reads: readonly Read[]): UsageRow[] {
  return reads.flatMap(({ rows }) => rows).sort(byPlace)
}

function placeOf({ startedAtMs, requestId }: UsageRow): Place {
  return { ms: startedAtMs, requestId }
}

function isBehind({ startedAtMs, requestId }: UsageRow, after: Place | undefined): boolean {
  if (after === undefined || startedAtMs < after.ms) return true
  return startedAtMs === after.ms && requestId < after.requestId
}

function byPlace(a: UsageRow, b: UsageRow): number {
  return b.startedAtMs - a.startedAtMs || (a.requestId > b.requestId ? -1 : 1)
}
