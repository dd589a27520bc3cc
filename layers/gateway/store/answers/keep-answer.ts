import type { AnswerClaim, KeptAnswer } from '../../domain/idempotency.ts'
import { isConditionFailed } from '../failures.ts'
import type { Tables } from '../tables.ts'

/** Stores the answer on the claim, or marks the claim as not_kept. Does nothing if another request owns the claim. */
type KeepAnswer = (claim: AnswerClaim, sealed: Uint8Array | undefined) => Promise<void>

export function keepAnswer({ database, answers }: Tables): KeepAnswer {
  return async ({ id, requestId }, sealed) => {
    const state: KeptAnswer['state'] = sealed ? 'kept' : 'not_kept'
    try {
      await database.update({
        TableName: answers,
        Key: { id },
        ConditionExpression: 'requestId = :requestId',
        UpdateExpression: `SET #state = :state${sealed ? ', sealed = :sealed' : ''}`,
        ExpressionAttributeNames: { '#state': 'state' },
        ExpressionAttributeValues: { ':requestId': requestId, ':state': state, ...(sealed && { ':sealed': sealed }) },
      })
    } catch (error) {
      if (!isConditionFailed(error)) throw error
    }
  }
}
