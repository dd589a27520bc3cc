import { TABLES } from '../../contract.ts'
import { DAY_MS, isoTime } from '../../domain/time.ts'
import { keyDay, SUMMED_FIELDS, type UsageRow } from '../../domain/usage-row.ts'
import { queryItems } from '../database.ts'
import type { Tables } from '../tables.ts'
import { toUsageRow } from './usage-item.ts'

const [BY_KEY] = TABLES.usage.indexes

/** From the first time, inclusive, to the second, exclusive. */
export type TimeRange = { readonly fromMs: number; readonly toMs: number }
export type RowOrder = 'newest first' | 'oldest first'

/** The rows of one key that began in a range, a page at a time: as many as DynamoDB likes, or `pageSize`. */
type QueryUsageRows = (keyId: string, range: TimeRange, order?: RowOrder, pageSize?: number) => AsyncIterable<UsageRow>

/** The whole rows, or only the attributes that sums or attempts need: less to send and to read. */
export type RowParts = keyof typeof ATTRIBUTES

/** In every projection. */
const ALWAYS = ['requestId', 'keyId', 'startedAt', 'model', 'provider', 'cost', 'hold']
const ATTRIBUTES = {
  whole: [],
  sums: [...new Set([...ALWAYS, 'outcome', 'errorCode', 'usageSource', 'expiresAt', ...SUMMED_FIELDS])],
  attempts: [...ALWAYS, 'attempts'],
} as const satisfies Record<string, readonly string[]>

export function queryUsageRows({ database, usage }: Tables, parts: RowParts = 'whole'): QueryUsageRows {
  const attributes = ATTRIBUTES[parts]
  const projection = attributes.length > 0 && { ProjectionExpression: attributes.map((name) => `#${name}`).join(', ') }
  const names = Object.fromEntries(attributes.map((name) => [`#${name}`, name]))
  return async function* rowsOf(keyId, range, order = 'newest first', pageSize) {
    for (const dayMs of daysOf(range, order)) {
      const items = queryItems(database, {
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
