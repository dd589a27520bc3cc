import { cidrContains } from '../admission/cidr.ts'
import { ulid } from '../basics/time.ts'
import type { Nano } from '../money/money.ts'
import type { AdminScope } from './admin-scopes.ts'
import type { RotatingKey, Secret } from './key.ts'

/** The settings of an admin key. None is changed later: another key is made. */
export type AdminKeySettings = {
  readonly name: string
  readonly scopes: readonly AdminScope[]
  /** Never empty: no admin key works from everywhere by oversight. */
  readonly allowlist: readonly string[]
  readonly dailyGrant: Nano
}

/** A program outside AWS calls the admin API with this key. It cannot ask a model, and no caller's key can administer. */
export type AdminKey = AdminKeySettings & RotatingKey

const ID_PREFIX = 'adminkey_'

export function isAdminKeyId(id: string): boolean {
  return id.startsWith(ID_PREFIX)
}

export function mayComeFrom({ allowlist }: AdminKey, address: string): boolean {
  return allowlist.some((cidr) => cidrContains(cidr, address))
}

type NewAdminKey = { readonly settings: AdminKeySettings; readonly stored: Secret }

export function newAdminKey({ settings, stored }: NewAdminKey, nowMs: number, random: Uint8Array): AdminKey {
  return {
    ...settings,
    id: `${ID_PREFIX}${ulid(nowMs, random)}`,
    status: 'active',
    current: stored,
    createdAtMs: nowMs,
    version: 1,
  }
}
