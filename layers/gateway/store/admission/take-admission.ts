import type { AdmissionResult, Demand } from '../../domain/admission.ts'
import type { Key } from '../../domain/key.ts'
import { forgottenDays, utcDay } from '../../domain/limits.ts'
import type { UpdateInput } from '../database.ts'
import { isConditionFailed, isUnavailable, retryTurnedAway } from '../failures.ts'
import { dayAttribute, keyItem, sweepTime, toKey } from '../keys/key-item.ts'
import { readKey } from '../keys/read-key.ts'
import type { Tables } from '../tables.ts'
import { ADMISSION_RULES, whyNotAdmitted } from './admission-rules.ts'
import { takeFromBucket } from './take-from-bucket.ts'

type TakeAdmission = (key: Key, demand: Demand) => Promise<AdmissionResult>

/**
 * Checks and takes everything in one conditional write. `key` may be a cached copy: its limits are acted on only if
 * the stored version is still the same, and if not, the refusal brings the fresh key along.
 */
export function takeAdmission(tables: Tables): TakeAdmission {
  const { database, keys } = tables
  const read = readKey(tables)
  return async (key, demand) => {
    try {
      const write = { TableName: keys, ...admissionWrite(key, demand) }
      const { Attributes } = await retryTurnedAway(() => database.updateOnce(write))
      return { admitted: true, key: toKey(Attributes ?? {}) }
    } catch (error) {
      if (isConditionFailed(error)) return refused(error.Item && toKey(error.Item), demand)
      if (!isUnavailable(error)) throw error
      // Sent again, the write could land twice: now, and once more after its hold was settled. So it is looked for.
      const fresh = await read(key.id)
      const landed = fresh?.holds[demand.requestId] !== undefined
      return landed ? { admitted: true, key: fresh } : { admitted: 'unknown', key: fresh, cause: error }
    }
  }
}

function refused(key: Key | undefined, demand: Demand): AdmissionResult {
  return { admitted: false, key, why: key && whyNotAdmitted(key, demand) }
}

function admissionWrite(key: Key, demand: Demand): Omit<UpdateInput, 'TableName'> {
  const isActive = '#status = :active'
  const isUnchanged = 'version = :version'
  const secretIsValid = '(currentHash = :hash OR (previousHash = :hash AND previousUntilMs > :nowMs))'
  const isFirst = 'attribute_not_exists(holds.#requestId)'
  const bucket = takeFromBucket(key, demand.nowMs)
  const rules = ADMISSION_RULES.map(({ expression }) => expression(key, demand))
  const forgotten = forgottenDays(key, demand.nowMs)

  return {
    Key: keyItem(key.id),
    ConditionExpression: [isActive, isUnchanged, secretIsValid, ...rules, isFirst].join(' AND '),
    UpdateExpression: [
      `SET ${bucket.takeToken}`,
      '#day = if_not_exists(#day, :zero) + :one',
      'available = available - :hold',
      'holds.#requestId = :entry',
      'sweepAt = if_not_exists(sweepAt, :sweepAt)',
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
      ':sweepAt': sweepTime(demand.holdUntilMs),
      ':zero': 0,
      ':one': 1,
      ...bucket.values,
    },
    ReturnValues: 'ALL_NEW',
    ReturnValuesOnConditionCheckFailure: 'ALL_OLD',
  }
}
