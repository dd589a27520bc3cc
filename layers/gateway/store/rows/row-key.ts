import { utcDay } from '../../domain/basics/time.ts'
import { readUlid, requestIdOf, timeMsIn, ulid } from '../../domain/basics/ulid.ts'
import { USAGE_ITEMS } from '../../names.ts'

/** One partition of DynamoDB takes a thousand writes a second, so the rows of a day are in several. */
export const ROW_SHARDS = 8
const SHARD_NAMES = Array.from({ length: ROW_SHARDS }, (_, shard) => String(shard))

type RowKey = { readonly part: string; readonly requestId: string }

/** The key of a row in its table: the day is that of the id's own time, and the shard that of its last, random bits. */
export function rowKey(requestId: string): RowKey {
  const bytes = readUlid(requestId)
  const shard = (bytes.at(-1) as number) % ROW_SHARDS
  return { part: partOf(utcDay(timeMsIn(bytes)), SHARD_NAMES[shard] as string), requestId }
}

/** The partitions that have the rows of a day. */
export function rowParts(day: string): string[] {
  return SHARD_NAMES.map((shard) => partOf(day, shard))
}

const FIRST_BYTES = new Uint8Array(10)
const LAST_BYTES = new Uint8Array(10).fill(255)

/** The smallest id that a request of this millisecond can have. */
export function firstIdOf(ms: number): string {
  return requestIdOf(ulid(ms, FIRST_BYTES))
}

export function lastIdOf(ms: number): string {
  return requestIdOf(ulid(ms, LAST_BYTES))
}

function partOf(day: string, shard: string): string {
  return `${USAGE_ITEMS.row}${day}#${shard}`
}
