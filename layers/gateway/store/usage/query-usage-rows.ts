import { TABLES } from '../../contract.ts'
import { keyDay, type UsageRow } from '../../domain/usage-row.ts'
import { queryItems } from '../database.ts'
import type { Tables } from '../tables.ts'
import { toUsageRow } from './usage-item.ts'

const DAY_MS = 24 * 60 * 60 * 1000
const [BY_KEY] = TABLES.usage.indexes

/** From the one moment, inclusive, to the other, exclusive. */
export type TimeRange = { readonly fromMs: number; readonly toMs: number }
export type RowOrder = 'newest first' | 'oldest first'

/** The rows of one key that began in a range, a page at a time: as many as DynamoDB likes, or as is said. */
type QueryUsageRows = (keyId: string, range: TimeRange, order?: RowOrder, pageSize?: number) => AsyncIterable<UsageRow>

/** Whole, or only as much of them as totals, errors and attempts are counted by: half as much to send and to read. */
export type RowParts = 'whole' | 'what is counted'

const COUNTED = [
  'requestId',
  'keyId',
  'startedAt',
  'outcome',
  'errorCode',
  'model',
  'provider',
  'fallbackModel',
  'promptTokens',
  'completionTokens',
  'cachedTokens',
  'cacheWriteTokens',
  'reasoningTokens',
  'usageSource',
  'cost',
  'hold',
  'upstreamCost',
  'attempts',
  'expiresAt',
]
const PROJECTION = {
  names: Object.fromEntries(COUNTED.map((name) => [`#${name}`, name])),
  expression: COUNTED.map((name) => `#${name}`).join(', '),
}

export function queryUsageRows({ database, usage }: Tables, parts: RowParts = 'whole'): QueryUsageRows {
  const isWhole = parts === 'whole'
  return async function* rowsOf(keyId, range, order = 'newest first', pageSize) {
    for (const dayMs of daysOf(range, order)) {
      const items = queryItems(database, {
        TableName: usage,
        IndexName: BY_KEY.name,
        KeyConditionExpression: '#partition = :keyDay AND #sort BETWEEN :first AND :last',
        ExpressionAttributeNames: {
          '#partition': BY_KEY.partitionKey,
          '#sort': BY_KEY.sortKey,
          ...(!isWhole && PROJECTION.names),
        },
        ...(!isWhole && { ProjectionExpression: PROJECTION.expression }),
        ExpressionAttributeValues: {
          ':keyDay': keyDay(keyId, dayMs),
          ':first': new Date(range.fromMs).toISOString(),
          ':last': new Date(range.toMs - 1).toISOString(),
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
