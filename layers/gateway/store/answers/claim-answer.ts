import { ANSWERS_KEPT_MS, type AnswerClaim, type KeptAnswer } from '../../domain/idempotency.ts'
import { isConditionFailed } from '../failures.ts'
import type { Tables } from '../tables.ts'

/** Claims an Idempotency-Key, or returns the claim or answer that has it. A dead request's claim can be taken over. */
type ClaimAnswer = (claim: AnswerClaim, nowMs: number, deadRequestId?: string) => Promise<KeptAnswer | undefined>

export function claimAnswer({ database, answers }: Tables): ClaimAnswer {
  return async (claim, nowMs, deadRequestId) => {
    const condition = deadRequestId === undefined ? isFree(nowMs) : isOf(deadRequestId)
    const expiresAt = Math.ceil((nowMs + ANSWERS_KEPT_MS) / 1000)
    try {
      await database.put({
        TableName: answers,
        Item: { ...claim, state: 'running', expiresAt },
        ...condition,
        ReturnValuesOnConditionCheckFailure: 'ALL_OLD',
      })
      return undefined
    } catch (error) {
      if (!isConditionFailed(error)) throw error
      const found = error.Item as KeptAnswer | undefined
      // Our own claim: the write had landed, its answer was lost, and it was sent again.
      return found?.requestId === claim.requestId ? undefined : (found ?? { ...claim, state: 'running' })
    }
  }
}

/** DynamoDB deletes expired items with a delay. */
function isFree(nowMs: number) {
  return {
    ConditionExpression: 'attribute_not_exists(id) OR expiresAt <= :now',
    ExpressionAttributeValues: { ':now': Math.floor(nowMs / 1000) },
  }
}

function isOf(requestId: string) {
  return {
    ConditionExpression: 'requestId = :requestId AND #state = :running',
    ExpressionAttributeNames: { '#state': 'state' },
    ExpressionAttributeValues: { ':requestId': requestId, ':running': 'running' },
  }
}
