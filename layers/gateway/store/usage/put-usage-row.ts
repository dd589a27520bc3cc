import { ConditionalCheckFailedException } from '@aws-sdk/client-dynamodb'
import { PutCommand } from '@aws-sdk/lib-dynamodb'
import { unmarshall } from '@aws-sdk/util-dynamodb'
import type { UsageRow } from '../../domain/usage-row.ts'
import type { Tables } from '../tables.ts'
import { toUsageItem, toUsageRow } from './usage-item.ts'

/** The row that stands: the first one written for a request is final, and whoever comes later settles by it. */
type PutUsageRow = (row: UsageRow) => Promise<UsageRow>

export function putUsageRow({ client, usage }: Tables): PutUsageRow {
  return async (row) => {
    try {
      await client.send(
        new PutCommand({
          TableName: usage,
          Item: toUsageItem(row),
          ConditionExpression: 'attribute_not_exists(requestId)',
          ReturnValuesOnConditionCheckFailure: 'ALL_OLD',
        }),
      )
      return row
    } catch (error) {
      if (!(error instanceof ConditionalCheckFailedException) || !error.Item) throw error
      return toUsageRow(unmarshall(error.Item))
    }
  }
}
