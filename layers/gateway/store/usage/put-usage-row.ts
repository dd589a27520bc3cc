import { DAY_MS } from '../../domain/time.ts'
import type { UsageRow } from '../../domain/usage-row.ts'
import { isConditionFailed } from '../failures.ts'
import type { Tables } from '../tables.ts'
import { toUsageItem, toUsageRow } from './usage-item.ts'

/** The final row: the first one written for a request stays, and later writers settle by it. */
type PutUsageRow = (row: UsageRow) => Promise<UsageRow>

/** DynamoDB deletes a row this many days after its request began; without `keepDays`, never. */
export function putUsageRow({ database, usage }: Tables, keepDays?: number): PutUsageRow {
  return async (given) => {
    const row = keepDays === undefined ? given : { ...given, keptUntilMs: given.startedAtMs + keepDays * DAY_MS }
    try {
      await database.put({
        TableName: usage,
        Item: toUsageItem(row),
        ConditionExpression: 'attribute_not_exists(requestId)',
        ReturnValuesOnConditionCheckFailure: 'ALL_OLD',
      })
      return given
    } catch (error) {
      if (!isConditionFailed(error) || !error.Item) throw error
      return toUsageRow(error.Item)
    }
  }
}
