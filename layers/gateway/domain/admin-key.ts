import { cidrContains } from './cidr.ts'
import type { RotatingKey, Secret } from './key.ts'
import type { Nano } from './money.ts'
import { ulid } from './ulid.ts'

/** What a caller of the admin API may do. */
export const ADMIN_SCOPES = [
  'keys.read',
  'keys.write',
  'credits.grant',
  'usage.read',
  'catalog.read',
  'catalog.write',
] as const

export type AdminScope = (typeof ADMIN_SCOPES)[number]

/** What an operator chooses of an admin key. None of it is changed later: another one is made. */
export type AdminKeySettings = {
  readonly name: string
  readonly scopes: readonly AdminScope[]
  /** Never empty: there is no admin key that works from everywhere by oversight. */
  readonly allowlist: readonly string[]
  /** The most credits that it grants on a UTC day. */
  readonly dailyGrant: Nano
}

/** With it, a program outside AWS calls the admin API. It asks no model, as no caller's key administers. */
export type AdminKey = AdminKeySettings & RotatingKey

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
