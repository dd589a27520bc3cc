import type { AdmissionResult, Demand } from '../../domain/admission/admission.ts'
import { freeUnderWay, type Key } from '../../domain/keys/key.ts'
import { creditRefusalMark } from '../../domain/keys/notice.ts'
import { isUnavailable } from '../../platform/aws/service-error.ts'
import { isConditionFailed, retryRejected, wasRejected } from '../dynamodb/conditional-writes.ts'
import type { Item, Tables, UpdateInput } from '../dynamodb/database.ts'
import { holdsOf, keyItem, SWEEP_AT_ONCE, storedHold, sweepTime, toKey, toNano } from '../keys/key-item.ts'
import { readKey, within } from '../keys/read-key.ts'
import { creditRefusalAttribute } from '../notices/notices.ts'
import {
  ADMISSION_RULES,
  COUNTER_WRITES,
  countsAfter,
  forgottenAttributes,
  TOKEN_WRITE,
  takeFromBucket,
  takesNone,
  whyNotAdmitted,
} from './admission-rules.ts'

export type TakeAdmission = (key: Key, demand: Demand) => Promise<AdmissionResult>

/** The returned part of the key: all of it, or only the attributes that admission changes. */
type Returned = 'ALL_NEW' | 'UPDATED_NEW'

/**
 * Checks and takes everything in one conditional write. `key` may be a cached copy: its limits are acted on only if the
 * stored version is still the same, and if not, the refusal brings the fresh key along.
 */
export function takeAdmission(tables: Tables, returned: Returned = 'ALL_NEW', mostAtOnce?: number): TakeAdmission {
  const { database, keys } = tables
  const read = readKey(tables, mostAtOnce)
  return async (key, demand) => {
    // Its copy may be old, and others may have room.
    if (takesNone(key)) return { admitted: false, key: await read(key.address), why: 'concurrency_limit_exceeded' }
    try {
      const write = admissionWrite(keys, key, demand, returned)
      const { Attributes = {} } = await retryRejected(() => database.updateOnce(write))
      return {
        admitted: true,
        key: returned === 'ALL_NEW' ? within(toKey(Attributes), mostAtOnce) : withChanges(key, demand, Attributes),
        ...(demand.hold === 0n && { freeUnderWay: freeUnderWay(holdsOf(Attributes), demand.nowMs) }),
      }
    } catch (error) {
      if (isConditionFailed(error)) {
        const stored = error.Item && within(toKey(error.Item), mostAtOnce)
        return { admitted: false, key: stored, why: stored && whyNotAdmitted(stored, demand) }
      }
      if (wasRejected(error) || !isUnavailable(error)) throw error
      // Sent again, the write could land twice: now, and once more after its hold was settled. So it is looked for.
      const fresh = await read(key.address)
      const landed = fresh?.holds[demand.requestId] !== undefined
      return landed
        ? { admitted: true, key: fresh, freeUnderWay: freeUnderWay(fresh.holds, demand.nowMs), isReadAfter: true }
        : { admitted: 'unknown', key: fresh, cause: error }
    }
  }
}

/** Fields that operators change are proven current; granted, spent and holds that have not ended are unknown. */
function withChanges(key: Key, demand: Demand, changed: Item): Key {
  const { previous } = key
  return {
    ...key,
    bucketFullAtUs: changed.bucketFullAtUs as number,
    available: toNano(changed.available),
    lastUsedAtMs: changed.lastUsedAtMs as number,
    // The copy of a key may know of a use of its old secret that is not this one.
    previous: previous && {
      ...previous,
      usedAtMs: (changed.previousUsedAtMs as number | undefined) ?? previous.usedAtMs,
    },
    counts: countsAfter(key, demand, changed),
    holds: holdsOf(changed, demand.nowMs),
  }
}

const IS_UNCHANGED = 'version = :version'
const SECRET_IS_VALID = '(currentHash = :hash OR (previousHash = :hash AND previousUntilMs > :nowMs))'
const IS_FIRST = 'NOT contains(openHolds, :open)'
const USED = 'lastUsedAtMs = :nowMs'
const USED_IN_GRACE = `${USED}, previousUsedAtMs = :nowMs`
/** A purse keeps the sum of all holds, by which an account without credits is proven to have none. */
const TAKE_FROM_PURSE = 'heldEver = heldEver + :hold, '
const TAKE = ['available = available - :hold', ...COUNTER_WRITES.map(({ take }) => take)].join(', ')
const HOLD = 'sweepAt = if_not_exists(sweepAt, :sweepAt) ADD openHolds :toAdd'
const HOLD_REFUSED = '#refused = :refused, sweepAt = :sweepAt ADD openHolds :toAdd'

// Made anew for each request, so it is built without intermediate copies.
function admissionWrite(TableName: string, key: Key, demand: Demand, ReturnValues: Returned): UpdateInput {
  const hold = storedHold(demand.requestId, { amount: demand.hold, untilMs: demand.holdUntilMs })
  const names: Record<string, string> = { '#status': 'status' }
  for (const { nameWindow } of COUNTER_WRITES) nameWindow(names, demand.nowMs)
  const values: Item = {
    ':active': 'active',
    ':version': key.version,
    ':hash': demand.hash,
    ':nowMs': demand.nowMs,
    ':hold': demand.hold,
    ':open': hold,
    ':toAdd': new Set([hold]),
    // A key whose balance is watched is looked at by every sweep while it is used.
    ':sweepAt': sweepTime(key.notifyBelow === undefined ? demand.holdUntilMs : demand.nowMs),
    ':zero': 0,
    ':one': 1,
  }
  let condition = `${SECRET_IS_VALID} AND ${IS_UNCHANGED}`
  for (const rule of ADMISSION_RULES) {
    const isMet = rule.condition(key, demand, values)
    if (isMet !== undefined) condition += ` AND ${isMet}`
  }
  let take = TAKE
  // A call that takes none writes the window, too: its answer tells those that are left.
  if (demand.tokens !== undefined) {
    TOKEN_WRITE.nameWindow(names, demand.nowMs)
    values[':tokens'] = demand.tokens
    take += `, ${TOKEN_WRITE.take}`
  }
  // This write proves the copy current, so the copy knows which of the two secrets this is.
  const used = key.previous?.hash === demand.hash ? USED_IN_GRACE : USED
  if (demand.creditRefusal) {
    names['#refused'] = creditRefusalAttribute(demand.creditRefusal)
    values[':refused'] = creditRefusalMark(key, demand.creditRefusal, demand.nowMs)
    values[':sweepAt'] = SWEEP_AT_ONCE
  }
  let update = `SET ${takeFromBucket(key, demand.nowMs, values)}, ${key.purse ? TAKE_FROM_PURSE : ''}${take}, ${used}, ${demand.creditRefusal ? HOLD_REFUSED : HOLD}`
  const forgotten = forgottenAttributes(key, demand.nowMs)
  for (let i = 0; i < forgotten.length; i++) {
    names[`#forgotten${i}`] = forgotten[i] as string
    update += `${i === 0 ? ' REMOVE' : ','} #forgotten${i}`
  }
  return {
    TableName,
    Key: keyItem(key.address),
    ConditionExpression: `${condition} AND ${IS_FIRST}`,
    UpdateExpression: update,
    ExpressionAttributeNames: names,
    ExpressionAttributeValues: values,
    ReturnValues,
    ReturnValuesOnConditionCheckFailure: 'ALL_OLD',
  }
}
