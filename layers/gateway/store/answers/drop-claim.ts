import { ConditionalCheckFailedException } from '@aws-sdk/client-dynamodb'
import { DeleteCommand } from '@aws-sdk/lib-dynamodb'
import type { Claim } from '../../domain/idempotency.ts'
import type { Tables } from '../tables.ts'

/** Frees an Idempotency-Key whose request gave no answer. */
type DropClaim = (claim: Claim) => Promise<void>

export function dropClaim({ client, answers }: Tables): DropClaim {
  return async ({ id, requestId }) => {
    try {
      await client.send(
        new DeleteCommand({
          TableName: answers,
          Key: { id },
          ConditionExpression: 'requestId = :requestId AND #state = :running',
          ExpressionAttributeNames: { '#state': 'state' },
          ExpressionAttributeValues: { ':requestId': requestId, ':running': 'running' },
        }),
      )
    } catch (error) {
      if (!(error instanceof ConditionalCheckFailedException)) throw error
    }
  }
}
