import type { Demand } from '../../domain/admission/admission.ts'
import { lastTakeableFullAtUs, saneFullAtUs } from '../../domain/admission/bucket.ts'
import type { AdmissionRefusal } from '../../domain/basics/gateway-error.ts'
import { isExpired, type Key } from '../../domain/keys/key.ts'
import type { Item } from '../dynamodb/database.ts'
import { COUNTER_WRITES } from './counter-writes.ts'
import { hasToken } from './take-from-bucket.ts'

/** A rule that a key must meet: as a condition of the admission write, and as a reason for its refusal. */
export type AdmissionRule = {
  readonly refusal: AdmissionRefusal
  /**
   * The condition on the stored key, if this request needs one. `cached` is the copy by which the write is made. Values
   * that only this rule needs are added to those of the write.
   */
  readonly condition: (cached: Key, demand: Demand, values: Item) => string | undefined
  readonly isMet: (stored: Key, demand: Demand) => boolean
}

/** If a key breaks several rules, the first is the reason. */
export const ADMISSION_RULES: readonly AdmissionRule[] = [
  {
    refusal: 'key_suspended',
    condition: () => '#status = :active',
    // A revoked key is refused by the state of its secret, whatever else is wrong.
    isMet: ({ status }) => status !== 'suspended',
  },
  {
    refusal: 'invalid_api_key',
    condition: () => '(attribute_not_exists(expiresAtMs) OR expiresAtMs > :nowMs)',
    isMet: (key, { nowMs }) => !isExpired(key, nowMs),
  },
  {
    refusal: 'rate_limit_exceeded',
    condition: (cached, { nowMs }, values) => hasToken(cached, nowMs, values),
    isMet: ({ rpm, bucketFullAtUs }, { nowMs }) =>
      saneFullAtUs(rpm, bucketFullAtUs, nowMs) <= lastTakeableFullAtUs(rpm, nowMs),
  },
  ...COUNTER_WRITES.filter(({ counts }) => counts === 'requests'),
  {
    refusal: 'concurrency_limit_exceeded',
    condition: ({ maxConcurrent }, _, values) => {
      values[':maxConcurrent'] = maxConcurrent
      return '(attribute_not_exists(openHolds) OR size(openHolds) < :maxConcurrent)'
    },
    isMet: ({ holds, maxConcurrent }) => Object.keys(holds).length < maxConcurrent,
  },
  {
    refusal: 'credit_balance_exhausted',
    condition: () => 'available >= :hold',
    isMet: ({ available }, { hold }) => available >= hold,
  },
  // After the balance: a new window does not help a caller whose balance is used up.
  ...COUNTER_WRITES.filter(({ counts }) => counts === 'credits'),
]

/** The first rule that this key does not meet; undefined if it meets all. */
export function whyNotAdmitted(key: Key, demand: Demand): AdmissionRefusal | undefined {
  return ADMISSION_RULES.find(({ isMet }) => !isMet(key, demand))?.refusal
}
