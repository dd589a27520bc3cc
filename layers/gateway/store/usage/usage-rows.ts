import { TABLES } from '../../contract.ts'
import { DAY_MS, isoTime } from '../../domain/time.ts'
import { isRequestId } from '../../domain/ulid.ts'
import { keyDay, SUMMED_FIELDS, type UsageRow } from '../../domain/usage-row.ts'
import { queryAhead, queryItems } from '../database.ts'
import { putOnce } from '../put-once.ts'
import type { Tables } from '../tables.ts'
import { rowKey } from './row-key.ts'
import { toUsageItem, toUsageRow } from './usage-item.ts'

/** The final row: the first one written for a request stays, and later writers settle by it. */
export type PutUsageRow = (row: UsageRow) => Promise<UsageRow>

/** DynamoDB deletes a row this many days after its request began; without `keepDays`, never. */
export function putUsageRow({ database, usage }: Tables, keepDays?: number): PutUsageRow {
  return async (given) => {
    const row = keepDays === undefined ? given : { ...given, keptUntilMs: given.startedAtMs + keepDays * DAY_MS }
    const ConditionExpression = 'attribute_not_exists(requestId)'
    const standing = await putOnce(database, { TableName: usage, Item: toUsageItem(row), ConditionExpression })
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
export type RowOrder = 'newest first' | 'oldest first'

/** The whole rows, or only the attributes that sums or attempts need: less to send and to read. */
export type RowParts = keyof typeof ATTRIBUTES

/** In every projection. */
const ALWAYS = ['requestId', 'keyId', 'startedAt', 'model', 'provider', 'cost', 'hold']
const ATTRIBUTES = {
  whole: [],
  sums: [...new Set([...ALWAYS, 'outcome', 'errorCode', 'usageSource', 'expiresAt', ...SUMMED_FIELDS])],
  attempts: [...ALWAYS, 'attempts'],
} as const satisfies Record<string, readonly string[]>

/** The rows of one key that began in a range, for a reader of all of them, or in pages of `pageSize` for one that may stop. */
export function queryUsageRows({ database, usage }: Tables, parts: RowParts = 'whole') {
  const attributes = ATTRIBUTES[parts]
  const projection = attributes.length > 0 && { ProjectionExpression: attributes.map((name) => `#${name}`).join(', ') }
  const names = Object.fromEntries(attributes.map((name) => [`#${name}`, name]))
  return async function* rowsOf(
    keyId: string,
    range: TimeRange,
    order: RowOrder = 'newest first',
    pageSize?: number,
  ): AsyncGenerator<UsageRow, void, undefined> {
    const query = pageSize === undefined ? queryAhead : queryItems
    for (const dayMs of daysOf(range, order)) {
      const items = query(database, {
        TableName: usage,
        IndexName: BY_KEY.name,
        KeyConditionExpression: '#partition = :keyDay AND #sort BETWEEN :first AND :last',
        ExpressionAttributeNames: {
          '#partition': BY_KEY.partitionKey,
          '#sort': BY_KEY.sortKey,
          ...names,
        },
        ...projection,
        ExpressionAttributeValues: {
          ':keyDay': keyDay(keyId, dayMs),
          ':first': isoTime(range.fromMs),
          ':last': isoTime(range.toMs - 1),
        },
        ScanIndexForward: order === 'oldest first',
        ...(pageSize !== undefined && { Limit: pageSize }),
      })
      for await (const item of items) yield toUsageRow(item)
    }
  }
}

function* daysOf({ fromMs, toMs }: TimeRange, order: RowOrder): Generator<number> {
  const first = Math.floor(fromMs / DAY_MS)
  const count = fromMs < toMs ? Math.ceil(toMs / DAY_MS) - first : 0
  for (let i = 0; i < count; i++) yield (order === 'oldest first' ? first + i : first + count - 1 - i) * DAY_MS
}
