import { cidrContains } from './cidr.ts'
import type { Secret } from './key.ts'
import type { Nano } from './money.ts'
import { sameHash } from './secret.ts'
import { ulid } from './ulid.ts'

export const ADMIN_SCOPES = [
  'keys.read',
  'keys.write',
  'credits.grant',
  'usage.read',
  'catalog.read',
  'catalog.write',
] as const

export type AdminScope = (typeof ADMIN_SCOPES)[number]

/** The settings of an admin key. None is changed later: another key is made. */
export type AdminKeySettings = {
  readonly name: string
  readonly scopes: readonly AdminScope[]
  /** Never empty: no admin key works from everywhere by oversight. */
  readonly allowlist: readonly string[]
  /** The most credits that the key grants on a UTC day. */
  readonly dailyGrant: Nano
}

/** A program outside AWS calls the admin API with this key. It cannot ask a model, and no caller's key can administer. */
export type AdminKey = AdminKeySettings & {
  readonly id: string
  readonly status: 'active' | 'revoked'
  readonly current: Secret
  readonly previous?: Secret & { readonly untilMs: number }
  readonly createdAtMs: number
  readonly version: number
}

/** True if the secret with this hash opens the key at this moment. */
export function opensAdminKey({ status, current, previous }: AdminKey, hash: string, nowMs: number): boolean {
  if (status !== 'active') return false
  const isPrevious = previous !== undefined && sameHash(previous.hash, hash) && previous.untilMs > nowMs
  return sameHash(current.hash, hash) || isPrevious
}

export function mayComeFrom({ allowlist }: AdminKey, address: string): boolean {
  return allowlist.some((cidr) => cidrContains(cidr, address))
}

type NewAdminKey = { readonly settings: AdminKeySettings; readonly stored: Secret }

export function newAdminKey({ settings, stored }: NewAdminKey, nowMs: number, random: Uint8Array): AdminKey {
  return {
    ...settings,
    id: `adminkey_${ulid(nowMs, random)}`,
    status: 'active',
    current: stored,
    createdAtMs: nowMs,
    version: 1,
  }
}
