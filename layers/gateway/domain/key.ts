import type { Scope } from '../contract.ts'
import type { Nano } from './money.ts'
import { sameHash } from './secret.ts'

export const GRACE_MS = 60 * 60 * 1000

export type Secret = { readonly hash: string; readonly lastFour: string }

export type Hold = {
  readonly amount: Nano
  readonly untilMs: number
  /** Kept as versions before 0.2 kept it, and released in that way. */
  readonly isOldForm?: true
}

/** The settings of a key that an operator chooses. */
export type KeySettings = {
  readonly name: string
  readonly scopes: readonly Scope[]
  readonly allowlist: readonly string[]
  readonly rpm: number
  readonly dailyLimit: number
  readonly maxConcurrent: number
}

export type Key = KeySettings & {
  readonly id: string
  readonly status: 'active' | 'revoked'
  readonly prefix: string
  readonly current: Secret
  readonly previous?: Secret & { readonly untilMs: number }
  readonly createdAtMs: number
  /** Changes with every change an operator makes, so that a cached copy can be proven current. */
  readonly version: number
  readonly bucketFullAtUs: number
  /** Requests admitted, by UTC day. */
  readonly days: Readonly<Record<string, number>>
  readonly granted: Nano
  readonly available: Nano
  readonly spent: Nano
  readonly holds: Readonly<Record<string, Hold>>
}

type Standing = 'current' | 'grace' | 'refused'

/** How the presented secret stands with this key at this moment. */
export function standingOf(key: Key, hash: string, nowMs: number): Standing {
  if (key.status !== 'active') return 'refused'
  if (sameHash(key.current.hash, hash)) return 'current'
  if (key.previous && sameHash(key.previous.hash, hash) && key.previous.untilMs > nowMs) return 'grace'
  return 'refused'
}

export function heldOf(key: Key): Nano {
  return Object.values(key.holds).reduce((sum, hold) => sum + hold.amount, 0n)
}

export type OpenHold = Hold & { readonly requestId: string }

/** Holds whose request cannot be running any more. */
export function expiredHolds(key: Key, nowMs: number): OpenHold[] {
  return Object.entries(key.holds)
    .filter(([, hold]) => hold.untilMs <= nowMs)
    .map(([requestId, hold]) => ({ requestId, ...hold }))
}

export function oldFormHolds({ holds }: Key): Key['holds'] {
  return Object.fromEntries(Object.entries(holds).filter(([, hold]) => hold.isOldForm))
}
