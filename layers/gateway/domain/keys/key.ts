import type { Counts } from '../admission/counters.ts'
import type { Nano } from '../money/money.ts'
import type { KeySettings } from './key-settings.ts'
import type { Lane } from './lane.ts'
import { sameHash } from './secret.ts'

export type Secret = { readonly hash: string; readonly lastFour: string }

export type Hold = { readonly amount: Nano; readonly untilMs: number }

/** Callers' keys, admin keys and accounts have one life, but admin keys are not suspended, and accounts have no secret. */
export type Versioned = {
  readonly id: string
  readonly status: 'active' | 'suspended' | 'revoked'
  readonly createdAtMs: number
  /** Changes with every change an operator makes, so that a cached copy can be proven current. */
  readonly version: number
}

export type RotatingKey = Versioned & {
  readonly current: Secret
  /** `usedAtMs`: the last use since the rotation, if there was one. */
  readonly previous?: (Secret & { readonly untilMs: number; readonly usedAtMs?: number | undefined }) | undefined
}

/** The part of a key that operators change. */
type Terms = KeySettings & RotatingKey & { readonly prefix: string }

/** The part of a key that requests change: the money, the limits that are used up, and the open requests of one item. */
type Books = {
  /** The item in which they lie, and in which a hold that was taken from them must be released. */
  readonly address: string
  readonly lane?: Lane | undefined
  /** The last admission, with either secret; an answer that came late may set it back a little. */
  readonly lastUsedAtMs?: number | undefined
  readonly bucketFullAtUs: number
  readonly counts: Counts
  readonly granted: Nano
  readonly available: Nano
  readonly spent: Nano
  readonly holds: Readonly<Record<string, Hold>>
  /** Set if the balance is that of an account: then these credits are the ones that it has given to this key. */
  readonly purse?: Purse | undefined
}

export type Key = Terms & Books

/** The part of a key that is the purse of an account: what it was given, and every hold that was ever taken from it. */
export type Purse = {
  readonly accountId: string
  readonly drawn: Nano
  readonly heldEver: Nano
  readonly spentAtDraw: Nano
  readonly statusVersion: number
  /** Only a key that was alone before has it. */
  readonly adoptedAtMs?: number | undefined
  /** The plan of the account, for a key that has none of its own. */
  readonly plan?: string | undefined
  /** Set while its account is suspended: true if the key goes on with its account, false if it is suspended by itself, too. */
  readonly isWithAccount?: boolean | undefined
}

export const planOf = ({ plan, purse }: Pick<Key, 'plan' | 'purse'>): string | undefined => plan ?? purse?.plan

/** The one that operators change. */
export const isFirstLane = ({ id, address }: Key): boolean => id === address

/** True for a key that is alone, and whose credits lie in several lanes: it has a pool that nobody sees. */
export const hasOwnPool = ({ id, purse }: Pick<Key, 'id' | 'purse'>): boolean => purse?.accountId === id

/** The account of a key that is not alone. */
export const accountIdOf = (key: Pick<Key, 'id' | 'purse'>): string | undefined =>
  hasOwnPool(key) ? undefined : key.purse?.accountId

export const ACCOUNT_PREFIX = 'acct_'

export function isAccountId(id: string): boolean {
  return id.startsWith(ACCOUNT_PREFIX)
}

type Standing = 'current' | 'grace' | 'suspended' | 'expired' | 'refused'

export function standingOf(key: RotatingKey & Expiring, hash: string, nowMs: number): Standing {
  if (key.status === 'revoked') return 'refused'
  const isCurrent = sameHash(key.current.hash, hash)
  const inGrace = key.previous && sameHash(key.previous.hash, hash) && key.previous.untilMs > nowMs
  if (!isCurrent && !inGrace) return 'refused'
  if (key.status === 'suspended') return 'suspended'
  if (isExpired(key, nowMs)) return 'expired'
  return isCurrent ? 'current' : 'grace'
}

type Expiring = { readonly expiresAtMs?: number | undefined }

export function isExpired({ expiresAtMs }: Expiring, nowMs: number): boolean {
  return expiresAtMs !== undefined && expiresAtMs <= nowMs
}

export function heldOf(key: Key): Nano {
  return Object.values(key.holds).reduce((sum, hold) => sum + hold.amount, 0n)
}

export type OpenHold = Hold & { readonly requestId: string }

export function expiredHolds(key: Key, nowMs: number): OpenHold[] {
  const expired: OpenHold[] = []
  for (const requestId in key.holds) {
    const hold = key.holds[requestId] as Hold
    if (hold.untilMs <= nowMs) expired.push({ requestId, ...hold })
  }
  return expired
}

export function freeUnderWay(holds: Key['holds'], nowMs: number): number {
  return Object.values(holds).filter(({ amount, untilMs }) => amount === 0n && untilMs > nowMs).length
}
