import { ANSWERS_KEPT_MS, type AnswerClaim, type KeptAnswer } from '../../domain/admission/idempotency.ts'
import { ifConditionHolds, putOnce } from '../dynamodb/conditional-writes.ts'
import type { Tables } from '../dynamodb/database.ts'

/** The claims on Idempotency-Keys, with the answers that are kept on them. */
export type AnswerStore = ReturnType<typeof answerStore>

export function answerStore({ database, answers: TableName }: Tables) {
  return {
    /** Returns what stands in the way, if anything. A dead request's claim can be taken over by naming that request. */
    async claim(claim: AnswerClaim, nowMs: number, deadRequestId?: string): Promise<KeptAnswer | undefined> {
      const condition = deadRequestId === undefined ? isFree(nowMs) : isOpenClaimOf(deadRequestId)
      const Item = { ...claim, state: 'running', expiresAt: Math.ceil((nowMs + ANSWERS_KEPT_MS) / 1000) }
      const found = await putOnce(database, { TableName, Item, ...condition })
      // Our own claim: the write had landed, its answer was lost, and it was sent again.
      if (!found || found.requestId === claim.requestId) return undefined
      return { ...claim, state: 'running', ...found }
    },
    async find(id: string, nowMs: number): Promise<KeptAnswer | undefined> {
      const { Item } = await database.get({ TableName, Key: { id }, ConsistentRead: true })
      const isOver = (Item?.expiresAt as number) <= Math.floor(nowMs / 1000)
      return isOver ? undefined : (Item as KeptAnswer | undefined)
    },
    /** Stores the answer on the claim, or marks the claim as not_kept. Does nothing if another request owns the claim. */
    async keep({ id, requestId }: AnswerClaim, sealed: Uint8Array | undefined): Promise<void> {
      const state: KeptAnswer['state'] = sealed ? 'kept' : 'not_kept'
      const write = {
        TableName,
        Key: { id },
        ConditionExpression: 'requestId = :requestId',
        UpdateExpression: `SET #state = :state${sealed ? ', sealed = :sealed' : ''}`,
        ExpressionAttributeNames: { '#state': 'state' },
        ExpressionAttributeValues: { ':requestId': requestId, ':state': state, ...(sealed && { ':sealed': sealed }) },
      }
      await ifConditionHolds(database.update(write))
    },
    /** Frees an Idempotency-Key whose request gave no answer. */
    async drop({ id, requestId }: AnswerClaim): Promise<void> {
      await ifConditionHolds(database.delete({ TableName, Key: { id }, ...isOpenClaimOf(requestId) }))
    },
  }
}

/** DynamoDB deletes expired items with a delay. */
function isFree(nowMs: number) {
  return {
    ConditionExpression: 'attribute_not_exists(id) OR expiresAt <= :now',
    ExpressionAttributeValues: { ':now': Math.floor(nowMs / 1000) },
  }
}

function isOpenClaimOf(requestId: string) {
  return {
    ConditionExpression: 'requestId = :requestId AND #state = :running',
    ExpressionAttributeNames: { '#state': 'state' },
    ExpressionAttributeValues: { ':requestId': requestId, ':running': 'running' },
  }
}
