import type { UsageRow } from '../../domain/usage-row.ts'
import { isConditionFailed } from '../failures.ts'
import type { Tables } from '../tables.ts'
import { toUsageItem, toUsageRow } from './usage-item.ts'

/** The row that stands: the first one written for a request is final, and whoever comes later settles by it. */
type PutUsageRow = (row: UsageRow) => Promise<UsageRow>

export function putUsageRow({ database, usage }: Tables): PutUsageRow {
  return async (row) => {
    try {
      await database.put({
        TableName: usage,
        Item: toUsageItem(row),
        ConditionExpression: 'attribute_not_exists(requestId)',
        ReturnValuesOnConditionCheckFailure: 'ALL_OLD',
      })
      return row
    } catch (error) {
      if (!isConditionFailed(error) || !error.Item) throw error
      return toUsageRow(error.Item)
    }
  }
}
