import { ConditionalCheckFailedException } from '@aws-sdk/client-dynamodb'
import { UpdateCommand, type UpdateCommandInput } from '@aws-sdk/lib-dynamodb'
import type { AdmissionResult, Demand } from '../domain/admission.ts'
import { intervalUs, lastTakeableFullAtUs } from '../domain/bucket.ts'
import type { Key } from '../domain/key.ts'
import { forgottenDays, utcDay } from '../domain/limits.ts'
import { acrossConflicts } from './failures.ts'
import { dayAttribute, keyItem, toKey, toKeyFromRaw } from './key-item.ts'
import type { Tables } from './tables.ts'

export type TakeAdmission = (key: Key, demand: Demand) => Promise<AdmissionResult>

/**
 * Checks and takes everything in one conditional write. `key` may be a cached copy: its limits are acted on only if
 * the stored version is still the same, and if not, the refusal brings the fresh key along.
 */
export function takeAdmission({ client, keys }: Tables): TakeAdmission {
  return async (key, demand) => {
    try {
      const write = new UpdateCommand({ TableName: keys, ...admissionWrite(key, demand) })
      const { Attributes } = await acrossConflicts(() => client.send(write))
      return { admitted: true, key: toKey(Attributes ?? {}) }
    } catch (error) {
      if (!(error instanceof ConditionalCheckFailedException)) throw error
      const fresh = toKeyFromRaw(error.Item)
      // Our own hold: the write had landed, its answer was lost, and the SDK sent it again.
      if (fresh?.holds[demand.requestId]) return { admitted: true, key: fresh }
      return { admitted: false, key: fresh }
    }
  }
}

function admissionWrite(key: Key, demand: Demand): Omit<UpdateCommandInput, 'TableName'> {
  const isActive = '#status = :active'
  const isUnchanged = 'version = :version'
  const secretIsValid = '(currentHash = :hash OR (previousHash = :hash AND previousUntilMs > :nowMs))'
  const isWithinDay = '(attribute_not_exists(#day) OR #day < :dailyLimit)'
  const hasRoom = 'size(holds) < :maxConcurrent'
  const canAfford = 'available >= :hold'
  const isFirst = 'attribute_not_exists(holds.#requestId)'
  const bucket = bucketWrite(key, demand.nowMs)
  const forgotten = forgottenDays(key, demand.nowMs)

  return {
    Key: keyItem(key.id),
    ConditionExpression: [
      isActive,
      isUnchanged,
      secretIsValid,
      bucket.hasToken,
      isWithinDay,
      hasRoom,
      canAfford,
      isFirst,
    ].join(' AND '),
    UpdateExpression: [
      `SET ${bucket.takeToken}`,
      '#day = if_not_exists(#day, :zero) + :one',
      'available = available - :hold',
      'holds.#requestId = :entry',
    ]
      .join(', ')
      .concat(forgotten.length > 0 ? ` REMOVE ${forgotten.map((_, i) => `#forgotten${i}`).join(', ')}` : ''),
    ExpressionAttributeNames: {
      '#status': 'status',
      '#day': dayAttribute(utcDay(demand.nowMs)),
      '#requestId': demand.requestId,
      ...Object.fromEntries(forgotten.map((day, i) => [`#forgotten${i}`, dayAttribute(day)])),
    },
    ExpressionAttributeValues: {
      ':active': 'active',
      ':version': key.version,
      ':hash': demand.hash,
      ':nowMs': demand.nowMs,
      ':dailyLimit': key.dailyLimit,
      ':maxConcurrent': key.maxConcurrent,
      ':hold': demand.hold,
      ':entry': { amount: demand.hold, untilMs: demand.holdUntilMs },
      ':zero': 0,
      ':one': 1,
      ...bucket.values,
    },
    ReturnValues: 'ALL_NEW',
    ReturnValuesOnConditionCheckFailure: 'ALL_OLD',
  }
}

/**
 * DynamoDB has no max(), so a full bucket and one in use are two writes. `bucketFullAtUs` only ever grows, so a cached
 * copy can be wrong in one direction only: it says full where another instance has taken since. That costs one retry.
 */
function bucketWrite(key: Key, nowMs: number) {
  const interval = intervalUs(key.rpm)
  const nowUs = nowMs * 1000
  if (key.bucketFullAtUs <= nowUs) {
    return {
      hasToken: 'bucketFullAtUs <= :nowUs',
      takeToken: 'bucketFullAtUs = :firstTaken',
      values: { ':nowUs': nowUs, ':firstTaken': nowUs + interval },
    }
  }
  return {
    hasToken: 'bucketFullAtUs > :nowUs AND bucketFullAtUs <= :lastTakeable',
    takeToken: 'bucketFullAtUs = bucketFullAtUs + :interval',
    values: { ':nowUs': nowUs, ':lastTakeable': lastTakeableFullAtUs(key.rpm, nowMs), ':interval': interval },
  }
}
