import { paginateQuery } from '@aws-sdk/lib-dynamodb'
import { TABLES } from '../contract.ts'
import { utcDay } from '../domain/limits.ts'
import { keyDay, type UsageRow } from '../domain/usage-row.ts'
import type { Tables } from './tables.ts'
import { toUsageRow } from './usage-item.ts'

const DAY_MS = 24 * 60 * 60 * 1000
const [BY_KEY] = TABLES.usage.indexes

/** The rows of one key from a moment on, newest first, a page at a time. */
export type QueryUsageRows = (keyId: string, sinceMs: number, nowMs: number) => AsyncIterable<UsageRow>

export function queryUsageRows({ client, usage }: Tables): QueryUsageRows {
  return async function* rowsOf(keyId, sinceMs, nowMs) {
    for (let dayMs = nowMs; utcDay(dayMs) >= utcDay(sinceMs); dayMs -= DAY_MS) {
      const pages = paginateQuery(
        { client },
        {
          TableName: usage,
          IndexName: BY_KEY.name,
          KeyConditionExpression: '#partition = :keyDay AND #sort >= :since',
          ExpressionAttributeNames: { '#partition': BY_KEY.partitionKey, '#sort': BY_KEY.sortKey },
          ExpressionAttributeValues: { ':keyDay': keyDay(keyId, dayMs), ':since': new Date(sinceMs).toISOString() },
          ScanIndexForward: false,
        },
      )
      for await (const page of pages) for (const item of page.Items ?? []) yield toUsageRow(item)
    }
  }
}
