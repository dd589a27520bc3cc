import { lastTakeableFullAtUs, saneFullAtUs } from './bucket.ts'
import type { Key } from './key.ts'
import { utcDay } from './limits.ts'
import type { Nano } from './money.ts'

/** What one request wants to take from its key, all at once. */
export type Demand = {
  readonly requestId: string
  readonly hash: string
  readonly nowMs: number
  readonly hold: Nano
  readonly holdUntilMs: number
}

/** The end of a hold: its cost is spent, the rest comes back. */
export type Release = { readonly keyId: string; readonly requestId: string; readonly hold: Nano; readonly cost: Nano }

export type AdmissionRefusal =
  | 'rate_limit_exceeded'
  | 'daily_limit_exceeded'
  | 'concurrency_limit_exceeded'
  | 'credit_balance_exhausted'

export type AdmissionResult =
  | { readonly admitted: true; readonly key: Key }
  /** The key as it was when the write was refused; none if it does not exist. */
  | { readonly admitted: false; readonly key: Key | undefined }
  /** The write was not answered and has not landed, but still may: its request id must not be used again. */
  | { readonly admitted: 'unknown'; readonly key: Key | undefined; readonly cause: unknown }

/** Why this key cannot meet the demand; undefined if it can, so that the write is worth another try. */
export function whyNotAdmitted(key: Key, demand: Demand): AdmissionRefusal | undefined {
  const fullAtUs = saneFullAtUs(key.rpm, key.bucketFullAtUs, demand.nowMs)
  if (fullAtUs > lastTakeableFullAtUs(key.rpm, demand.nowMs)) return 'rate_limit_exceeded'
  if ((key.days[utcDay(demand.nowMs)] ?? 0) >= key.dailyLimit) return 'daily_limit_exceeded'
  if (Object.keys(key.holds).length >= key.maxConcurrent) return 'concurrency_limit_exceeded'
  if (key.available < demand.hold) return 'credit_balance_exhausted'
  return undefined
}
