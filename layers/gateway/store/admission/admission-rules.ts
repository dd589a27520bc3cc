import type { AdmissionRefusal, Demand } from '../../domain/admission.ts'
import { lastTakeableFullAtUs, saneFullAtUs } from '../../domain/bucket.ts'
import { isExpired, type Key } from '../../domain/key.ts'
import { utcDay } from '../../domain/limits.ts'
import type { Item } from '../database.ts'
import { hasToken } from './take-from-bucket.ts'

/** A rule that a key must meet: as a condition of the admission write, and as a reason for its refusal. */
type AdmissionRule = {
  readonly refusal: AdmissionRefusal
  /** The condition on the stored key, whose values are added to those of the write. `cached` is the copy by which the write is made. */
  readonly condition: (cached: Key, demand: Demand, values: Item) => string
  readonly isMet: (stored: Key, demand: Demand) => boolean
  /** Whether a call that is refused for this spends a token all the same. */
  readonly spendsToken: boolean
}

/** In the order in which they are told. */
export const ADMISSION_RULES: readonly AdmissionRule[] = [
  {
    refusal: 'key_expired',
    condition: (_, { nowMs }, values) => {
      values[':nowMs'] = nowMs
      return '(attribute_not_exists(expiresAtMs) OR expiresAtMs > :nowMs)'
    },
    isMet: (key, { nowMs }) => !isExpired(key, nowMs),
    spendsToken: false,
  },
  {
    refusal: 'rate_limit_exceeded',
    condition: (cached, { nowMs }, values) => hasToken(cached, nowMs, values),
    isMet: ({ rpm, bucketFullAtUs }, { nowMs }) =>
      saneFullAtUs(rpm, bucketFullAtUs, nowMs) <= lastTakeableFullAtUs(rpm, nowMs),
    spendsToken: false,
  },
  {
    refusal: 'daily_limit_exceeded',
    condition: ({ dailyLimit }, _, values) => {
      values[':dailyLimit'] = dailyLimit
      return '(attribute_not_exists(#day) OR #day < :dailyLimit)'
    },
    isMet: ({ days, dailyLimit }, { nowMs }) => (days[utcDay(nowMs)] ?? 0) < dailyLimit,
    spendsToken: false,
  },
  {
    refusal: 'concurrency_limit_exceeded',
    condition: ({ maxConcurrent }, _, values) => {
      values[':maxConcurrent'] = maxConcurrent
      return '(attribute_not_exists(openHolds) OR size(openHolds) < :maxConcurrent)'
    },
    isMet: ({ holds, maxConcurrent }) => Object.keys(holds).length < maxConcurrent,
    spendsToken: false,
  },
  {
    refusal: 'credit_balance_exhausted',
    condition: (_, { hold }, values) => {
      values[':hold'] = hold
      return 'available >= :hold'
    },
    isMet: ({ available }, { hold }) => available >= hold,
    spendsToken: true,
  },
]

/** The first rule that this key does not meet; undefined if it meets all. */
export function whyNotAdmitted(key: Key, demand: Demand): AdmissionRefusal | undefined {
  return ADMISSION_RULES.find(({ isMet }) => !isMet(key, demand))?.refusal
}
