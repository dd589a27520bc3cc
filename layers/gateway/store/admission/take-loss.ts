import type { Release } from '../../domain/admission/admission.ts'
import { COUNTERS, countName, windowOf } from '../../domain/admission/counters.ts'
import { ulidTimeMs } from '../../domain/basics/time.ts'
import type { Nano } from '../../domain/money/money.ts'
import { isUnavailable } from '../../platform/aws/service-error.ts'
import { ifConditionHolds, retryRejected } from '../dynamodb/conditional-writes.ts'
import type { Tables } from '../dynamodb/database.ts'
import { keyItem, storedHold } from '../keys/key-item.ts'

type Loss = Pick<Release, 'address' | 'requestId' | 'hold'> & { readonly amount: Nano; readonly bound: Nano }

/** The attribute of the loss on the day by which a request is judged, which its id contains. */
export function lossAttribute(requestId: string): string {
  return countName(COUNTERS.dailyLoss, windowOf(COUNTERS.dailyLoss, ulidTimeMs(requestId)))
}

/**
 * Adds a loss that a request is about to risk to those of its key, if the sum stays within the bound; false if not, and
 * undefined if that is not known. Settlement gives back what was not lost.
 */
export type TakeLoss = (loss: Loss) => Promise<boolean | undefined>

export function takeLoss({ database, keys }: Tables): TakeLoss {
  return async ({ address, requestId, hold, amount, bound }) => {
    if (amount > bound) return false
    const write = {
      TableName: keys,
      Key: keyItem(address),
      ConditionExpression: 'contains(openHolds, :open) AND (attribute_not_exists(#loss) OR #loss <= :room)',
      UpdateExpression: 'SET #loss = if_not_exists(#loss, :zero) + :amount',
      ExpressionAttributeNames: { '#loss': lossAttribute(requestId) },
      ExpressionAttributeValues: {
        ':open': storedHold(requestId, hold),
        ':room': bound - amount,
        ':zero': 0,
        ':amount': amount,
      },
    }
    try {
      return await ifConditionHolds(retryRejected(() => database.updateOnce(write)))
    } catch (error) {
      if (isUnavailable(error)) return undefined
      throw error
    }
  }
}
