import { TABLES } from '../../contract.ts'
import type { DayTotal } from '../../domain/day-total.ts'
import { queryItems } from '../database.ts'
import type { Tables } from '../tables.ts'
import { toDayTotal, totalsOfDay } from './day-total-item.ts'

const [BY_KEY] = TABLES.usage.indexes

/** The totals of all keys on one day, in the order of their ids: a page has some thousand of them. */
type QueryDayTotals = (day: string, afterKeyId?: string) => AsyncIterable<DayTotal>

export function queryDayTotals({ database, usage }: Tables): QueryDayTotals {
  return async function* totalsOf(day, afterKeyId = '\0') {
    const items = queryItems(database, {
      TableName: usage,
      IndexName: BY_KEY.name,
      KeyConditionExpression: '#partition = :day AND #sort > :after',
      ExpressionAttributeNames: { '#partition': BY_KEY.partitionKey, '#sort': BY_KEY.sortKey },
      ExpressionAttributeValues: { ':day': totalsOfDay(day), ':after': afterKeyId },
    })
    for await (const item of items) yield toDayTotal(item)
  }
}
