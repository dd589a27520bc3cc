import type { AnswerClaim } from '../../domain/idempotency.ts'
import { isConditionFailed } from '../failures.ts'
import type { Tables } from '../tables.ts'

/** Frees an Idempotency-Key whose request gave no answer. */
type DropClaim = (claim: AnswerClaim) => Promise<void>

export function dropClaim({ database, answers }: Tables): DropClaim {
  return async ({ id, requestId }) => {
    try {
      await database.delete({
        TableName: answers,
        Key: { id },
        ConditionExpression: 'requestId = :requestId AND #state = :running',
        ExpressionAttributeNames: { '#state': 'state' },
        ExpressionAttributeValues: { ':requestId': requestId, ':running': 'running' },
      })
    } catch (error) {
      if (!isConditionFailed(error)) throw error
    }
  }
}
