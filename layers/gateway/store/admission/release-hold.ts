import { ConditionalCheckFailedException } from '@aws-sdk/client-dynamodb'
import { UpdateCommand } from '@aws-sdk/lib-dynamodb'
import type { Release } from '../../domain/admission.ts'
import { retryTurnedAway } from '../failures.ts'
import { keyItem } from '../keys/key-item.ts'
import type { Tables } from '../tables.ts'

/** True if this call released the hold, false if it had been released before. */
type ReleaseHold = (release: Release) => Promise<boolean>

export function releaseHold({ client, keys }: Tables): ReleaseHold {
  return async ({ keyId, requestId, hold, cost }) => {
    const write = new UpdateCommand({
      TableName: keys,
      Key: keyItem(keyId),
      ConditionExpression: 'holds.#requestId.amount = :hold',
      UpdateExpression: 'SET available = available + :back, spent = spent + :cost REMOVE holds.#requestId',
      ExpressionAttributeNames: { '#requestId': requestId },
      ExpressionAttributeValues: { ':hold': hold, ':back': hold - cost, ':cost': cost },
    })
    try {
      await retryTurnedAway(() => client.send(write))
      return true
    } catch (error) {
      if (error instanceof ConditionalCheckFailedException) return false
      throw error
    }
  }
}
