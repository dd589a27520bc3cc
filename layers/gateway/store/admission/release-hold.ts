import type { Release } from '../../domain/admission.ts'
import { isConditionFailed, retryTurnedAway } from '../failures.ts'
import { keyItem } from '../keys/key-item.ts'
import type { Tables } from '../tables.ts'

/** True if this call released the hold, false if it had been released before. */
type ReleaseHold = (release: Release) => Promise<boolean>

export function releaseHold({ database, keys }: Tables): ReleaseHold {
  return async ({ keyId, requestId, hold, cost }) => {
    const write = {
      TableName: keys,
      Key: keyItem(keyId),
      ConditionExpression: 'holds.#requestId.amount = :hold',
      UpdateExpression: 'SET available = available + :back, spent = spent + :cost REMOVE holds.#requestId',
      ExpressionAttributeNames: { '#requestId': requestId },
      ExpressionAttributeValues: { ':hold': hold, ':back': hold - cost, ':cost': cost },
    }
    try {
      await retryTurnedAway(() => database.update(write))
      return true
    } catch (error) {
      if (isConditionFailed(error)) return false
      throw error
    }
  }
}
