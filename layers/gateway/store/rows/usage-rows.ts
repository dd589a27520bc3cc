import { DAY_MS, firstUlid, isoTime, isRequestId, lastUlid, requestIdOf, utcDay } from '../../domain/basics/time.ts'
import { laneAddress } from '../../domain/keys/lane.ts'
import { PIECE_FIELDS } from '../../domain/money/price-kinds.ts'
import { keyDay, SUMMED_FIELDS, type UsageRow } from '../../domain/rows/usage-row.ts'
import { TABLES } from '../../names.ts'
import { firstPut, putOnce } from '../dynamodb/conditional-writes.ts'
import { type QueryInput, queryItems, type Tables } from '../dynamodb/database.ts'
import { keyItem } from '../keys/key-item.ts'
import { mergeRows, partOfPage, type RowOrder } from './merge-rows.ts'
import { rowKey, rowParts, toUsageItem, toUsageRow } from './usage-item.ts'

/** The final row: the first one written for a request stays, and later writers settle by it. */
export type PutUsageRow = (row: UsageRow) => Promise<UsageRow>

/** DynamoDB deletes a row this many days after its request began; without `keepDays`, never. */
export function putUsageRow({ database, usage }: Tables, keepDays?: number): PutUsageRow {
  return async (given) => {
    const row = keepDays === undefined ? given : { ...given, keptUntilMs: given.startedAtMs + keepDays * DAY_MS }
    const standing = await putOnce(database, firstPut(usage, toUsageItem(row), 'requestId'))
    return standing ? toUsageRow(standing) : given
  }
}

export function readUsageRow({ database, usage }: Tables) {
  return async (requestId: string): Promise<UsageRow | undefined> => {
    if (!isRequestId(requestId)) return undefined
    const { Item } = await database.get({ TableName: usage, Key: rowKey(requestId), ConsistentRead: true })
    return Item && toUsageRow(Item)
  }
}

const [BY_KEY] = TABLES.usage.indexes

/** From the first time, inclusive, to the second, exclusive. */
export type TimeRange = { readonly fromMs: number; readonly toMs: number }

/** The whole rows, or only the attributes that the sums of a key or of all keys need: less to send and to read. */
type RowParts = keyof typeof ATTRIBUTES

/** In every projection. */
const ALWAYS = [
  ...['requestId', 'keyId', 'startedAt', 'model', 'provider', 'cost', 'hold', 'outcome', 'errorCode', 'alsoRefused'],
]
const ATTRIBUTES = {
  whole: [],
  sums: [
    ...new Set([
      ...ALWAYS,
      'endpoint',
      'usageSource',
      'expiresAt',
      'accountId',
      'price',
      ...PIECE_FIELDS,
      ...SUMMED_FIELDS,
    ]),
  ],
  groups: [...new Set([...ALWAYS, 'endpoint', 'usageSource', 'attempts', 'ttftMs', 'durationMs', ...SUMMED_FIELDS])],
} as const satisfies Record<string, readonly string[]>

/** A reader of all rows, who does not stop, is read ahead for. */
function rowReader({ database, usage }: Tables, parts: RowParts) {
  const attributes = ATTRIBUTES[parts]
  const names = Object.fromEntries(attributes.map((name) => [`#${name}`, name]))
  const projection = attributes.length > 0 && { ProjectionExpression: Object.keys(names).join(', ') }
  return (query: Omit<QueryInput, 'TableName'>, order: RowOrder, pageSize: number | undefined, isAhead: boolean) => {
    const input = {
      TableName: usage,
      ...query,
      ExpressionAttributeNames: { ...names, ...query.ExpressionAttributeNames },
      ...projection,
      ScanIndexForward: order === 'oldest first',
      ...(pageSize !== undefined && { Limit: pageSize }),
    }
    return queryItems(database, input, toUsageRow, isAhead)
  }
}

/** `lanes`: as many as the key has ever had. No row of it is in another. */
export type LanedKey = { readonly id: string; readonly lanes: number }

export function readLanedKey({ database, keys }: Tables) {
  return async (id: string): Promise<LanedKey> => {
    const input = { TableName: keys, Key: keyItem(id), ConsistentRead: true, ProjectionExpression: 'lanesMade' }
    const { Item } = await database.get(input)
    return { id, lanes: (Item?.lanesMade as number | undefined) ?? 1 }
  }
}

/** The rows of a key with many lanes that are read at once, if it is read to its end. */
const LANED_PAGE = 4_000

/** In pages of `pageSize` for a reader that may stop; without it, for a reader of all rows. Given an id, it reads the lanes. */
export function queryUsageRows(tables: Tables, parts: RowParts = 'whole') {
  const read = rowReader(tables, parts)
  return async function* rowsOf(
    key: string | LanedKey,
    range: TimeRange,
    order: RowOrder = 'newest first',
    pageSize?: number,
  ): AsyncGenerator<UsageRow, void, undefined> {
    const { id, lanes } = typeof key === 'string' ? await readLanedKey(tables)(key) : key
    const size = lanes === 1 ? pageSize : partOfPage(pageSize ?? LANED_PAGE, lanes)
    for (const dayMs of daysOf(range, order)) {
      const ofLane = (lane: number) => {
        const query = {
          IndexName: BY_KEY.name,
          KeyConditionExpression: '#partition = :keyDay AND #sort BETWEEN :first AND :last',
          ExpressionAttributeNames: { '#partition': BY_KEY.partitionKey, '#sort': BY_KEY.sortKey },
          ExpressionAttributeValues: {
            ':keyDay': keyDay(laneAddress(id, lane), dayMs),
            ':first': isoTime(range.fromMs),
            ':last': isoTime(range.toMs - 1),
          },
        }
        return read(query, order, size, pageSize === undefined)
      }
      yield* lanes === 1 ? ofLane(0) : mergeRows([...Array(lanes).keys()].map(ofLane), order)
    }
  }
}

/** One list of rows for each partition of a day, in the order of their ids, read consistently from the table. */
export function queryRowsOfDay(tables: Tables, parts: RowParts = 'whole') {
  const read = rowReader(tables, parts)
  return (dayMs: number, { firstId, lastId }: IdRange, order: RowOrder, pageSize?: number) =>
    rowParts(utcDay(dayMs)).map((part) => {
      const query = {
        KeyConditionExpression: '#part = :part AND #requestId BETWEEN :first AND :last',
        ExpressionAttributeNames: { '#part': 'part', '#requestId': 'requestId' },
        ExpressionAttributeValues: { ':part': part, ':first': firstId, ':last': lastId },
        ConsistentRead: true,
      }
      return read(query, order, pageSize, pageSize === undefined)
    })
}

/** Both are included. */
type IdRange = { readonly firstId: string; readonly lastId: string }

export function idsOf({ fromMs, toMs }: TimeRange): IdRange {
  return { firstId: requestIdOf(firstUlid(fromMs)), lastId: requestIdOf(lastUlid(toMs - 1)) }
}

export function* daysOf({ fromMs, toMs }: TimeRange, order: RowOrder): Generator<number> {
  const first = Math.floor(fromMs / DAY_MS)
  const count = fromMs < toMs ? Math.ceil(toMs / DAY_MS) - first : 0
  for (let i = 0; i < count; i++) yield (order === 'oldest first' ? first + i : first + count - 1 - i) * DAY_MS
}

/** All rows of a range, or those of some keys, oldest first. */
export async function* usageRows(
  tables: Tables,
  keyIds: readonly string[] | undefined,
  range: TimeRange,
): AsyncGenerator<UsageRow> {
  for (const keyId of keyIds ?? []) yield* queryUsageRows(tables)(keyId, range, 'oldest first')
  if (keyIds) return
  const query = queryRowsOfDay(tables)
  for (const dayMs of daysOf(range, 'oldest first'))
    yield* mergeRows(query(dayMs, idsOf(range), 'oldest first'), 'oldest first')
}
