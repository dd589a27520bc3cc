import type { AdmissionResult, Demand } from '../../domain/admission.ts'
import { type Key, oldFormHolds } from '../../domain/key.ts'
import { forgottenDays, utcDay } from '../../domain/limits.ts'
import type { Item, UpdateInput } from '../database.ts'
import { isConditionFailed, isUnavailable, retryTurnedAway } from '../failures.ts'
import { dayAttribute, daysOf, holdsOf, keyItem, sweepTime, toKey, toNano } from '../keys/key-item.ts'
import { readKey } from '../keys/read-key.ts'
import { storedHold } from '../keys/stored-hold.ts'
import type { Tables } from '../tables.ts'
import { ADMISSION_RULES, whyNotAdmitted } from './admission-rules.ts'
import { takeFromBucket } from './take-from-bucket.ts'

type TakeAdmission = (key: Key, demand: Demand) => Promise<AdmissionResult>

/** How much of the key comes back: all of it, or what admission changes, beside which the copy is current. */
type Returned = 'ALL_NEW' | 'UPDATED_NEW'

/**
 * Checks and takes everything in one conditional write. `key` may be a cached copy: its limits are acted on only if
 * the stored version is still the same, and if not, the refusal brings the fresh key along.
 */
export function takeAdmission(tables: Tables, returned: Returned = 'ALL_NEW'): TakeAdmission {
  const { database, keys } = tables
  const read = readKey(tables)
  return async (key, demand) => {
    try {
      const write = { TableName: keys, ...admissionWrite(key, demand), ReturnValues: returned }
      const { Attributes = {} } = await retryTurnedAway(() => database.updateOnce(write))
      return { admitted: true, key: returned === 'ALL_NEW' ? toKey(Attributes) : withChanges(key, demand, Attributes) }
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

/**
 * The key after an admission. What operators change is proven current. What was granted and spent is not known, and of
 * the holds only those that have ended are.
 */
function withChanges(key: Key, { nowMs }: Demand, changed: Item): Key {
  const forgotten = new Set(forgottenDays(key, nowMs))
  const days = Object.fromEntries(Object.entries(key.days).filter(([day]) => !forgotten.has(day)))
  return {
    ...key,
    bucketFullAtUs: changed.bucketFullAtUs as number,
    available: toNano(changed.available),
    ...lastUseOf(key, changed),
    days: { ...days, ...daysOf(changed) },
    holds: { ...oldFormHolds(key), ...holdsOf(changed, nowMs) },
  }
}

/** The copy of a key may know of a use of its old secret that is not this one. */
function lastUseOf(
  { previous }: Key,
  { lastUsedAtMs, previousUsedAtMs }: Item,
): Pick<Key, 'lastUsedAtMs' | 'previous'> {
  return {
    lastUsedAtMs: lastUsedAtMs as number,
    ...(previous && {
      previous: { ...previous, usedAtMs: (previousUsedAtMs as number | undefined) ?? previous.usedAtMs },
    }),
  }
}

function refused(key: Key | undefined, demand: Demand): AdmissionResult {
  return { admitted: false, key, why: key && whyNotAdmitted(key, demand) }
}

const IS_ACTIVE = '#status = :active'
const IS_UNCHANGED = 'version = :version'
const SECRET_IS_VALID = '(currentHash = :hash OR (previousHash = :hash AND previousUntilMs > :nowMs))'
const USED = 'lastUsedAtMs = :nowMs'
const USED_IN_GRACE = `${USED}, previousUsedAtMs = :nowMs`
const IS_FIRST = 'NOT contains(openHolds, :open)'

function admissionWrite(key: Key, demand: Demand): Omit<UpdateInput, 'TableName'> {
  const { takeToken } = takeFromBucket(key, demand.nowMs)
  const rules = ADMISSION_RULES.map(({ condition }) => condition(key, demand))
  const forgotten = forgottenDays(key, demand.nowMs)
  const hold = storedHold(demand.requestId, { amount: demand.hold, untilMs: demand.holdUntilMs })
  const names: Record<string, string> = { '#status': 'status', '#day': dayAttribute(utcDay(demand.nowMs)) }
  for (const [i, day] of forgotten.entries()) names[`#forgotten${i}`] = dayAttribute(day)

  return {
    Key: keyItem(key.id),
    ConditionExpression: [IS_ACTIVE, IS_UNCHANGED, SECRET_IS_VALID, ...rules.map(({ text }) => text), IS_FIRST].join(
      ' AND ',
    ),
    UpdateExpression: [
      `SET ${takeToken.text}`,
      '#day = if_not_exists(#day, :zero) + :one',
      'available = available - :hold',
      // The copy is proven current by this write, so it knows which of the two secrets this is.
      key.previous?.hash === demand.hash ? USED_IN_GRACE : USED,
      'sweepAt = if_not_exists(sweepAt, :sweepAt) ADD openHolds :toAdd',
    ]
      .join(', ')
      .concat(forgotten.length > 0 ? ` REMOVE ${forgotten.map((_, i) => `#forgotten${i}`).join(', ')}` : ''),
    ExpressionAttributeNames: names,
    ExpressionAttributeValues: Object.assign(
      {
        ':active': 'active',
        ':version': key.version,
        ':hash': demand.hash,
        ':nowMs': demand.nowMs,
        ':hold': demand.hold,
        ':open': hold,
        ':toAdd': new Set([hold]),
        ':sweepAt': sweepTime(demand.holdUntilMs),
        ':zero': 0,
        ':one': 1,
      },
      takeToken.values,
      ...rules.map(({ values }) => values),
    ),
    ReturnValuesOnConditionCheckFailure: 'ALL_OLD',
  }
}
