// Keys and their credits, as the admin API tells them and is told. Amounts of credits are decimal strings, moments are ISO 8601 in UTC.

import { z } from 'zod'
import { GRACE_MS } from '../../../gateway/domain/key-settings.ts'
import { credits, someCredits, textLike, wholeNumber } from '../../settings/rules.ts'
import { SETTING_FIELDS } from '../../settings/setting-fields.ts'

type Frozen<T> = T extends object ? { readonly [Name in keyof T]: Frozen<T[Name]> } : T

const settings = z.strictObject(SETTING_FIELDS)
export type ToldSettings = Frozen<z.input<typeof settings>>

export type KeyStatus = 'active' | 'expired' | 'revoked'

export type KeyShape = ToldSettings & {
  readonly object: 'key'
  readonly id: string
  readonly status: KeyStatus
  readonly prefix: string
  readonly last_four: string
  /** The old secret of a rotated key, while it is valid. */
  readonly previous: {
    readonly last_four: string
    readonly expires_at: string
    readonly last_used_at: string | null
  } | null
  readonly requests_today: number
  readonly requests_open: number
  readonly granted: string
  readonly available: string
  readonly held: string
  readonly spent: string
  readonly last_used_at: string | null
  readonly created_at: string
  /** Goes in If-Match as `"7"`. */
  readonly version: number
  /** What deserves a look: 'empty', 'idle' (not used for 90 days), 'no_allowlist', 'low' (spends its rest within a week at the last week's rate). */
  readonly badges: readonly string[]
}

export type WindowShape = { readonly limit: number; readonly remaining: number; readonly reset_seconds: number }

/** One key, as `GET /keys/{id}` tells it. */
export type KeyDetail = KeyShape & {
  readonly minute: WindowShape
  readonly day: WindowShape
  readonly holds: readonly HoldShape[]
}

export type HoldShape = {
  readonly request_id: string
  readonly amount: string
  readonly until: string
  /** Its request is dead, and the sweep will give the credits back. */
  readonly expired: boolean
}

/** The answer to create and rotate. `secret` is null if the caller made it, and on a retry. */
export type KeyWithSecret = KeyDetail & { readonly secret: string | null; readonly replayed: boolean }

const secretFields = {
  secret_sha256: textLike(/^[0-9a-f]{64}$/, 'the SHA-256 of the secret, as 64 digits of lower-case hex').optional(),
  last_four: textLike(/^[0-9A-Za-z]{4}$/, 'the last four characters of the secret').optional(),
}

export const createKeyBody = settings.partial().extend({
  name: SETTING_FIELDS.name,
  credits: credits.optional(),
  ...secretFields,
})
export type CreateKeyBody = Frozen<z.input<typeof createKeyBody>>

export const updateKeyBody = settings.partial()
export type UpdateKeyBody = Frozen<z.input<typeof updateKeyBody>>

export const rotateBody = z.strictObject({
  grace_seconds: wholeNumber(0, GRACE_MS / 1000).optional(),
  ...secretFields,
})

export type RotateBody = z.input<typeof rotateBody>

export const revokeBody = z.strictObject({ confirm: z.string('must be the name of the key. A revoke is final.') })
export type RevokeBody = z.input<typeof revokeBody>

export const grantBody = z.strictObject({ credits: someCredits })
export type GrantBody = z.input<typeof grantBody>

export const NOTHING = z.strictObject({})

export type GrantShape = {
  readonly object: 'grant'
  readonly id: string
  readonly credits: string
  readonly by: string
  readonly granted_at: string
}

/** The answer to a grant, and the key as it is now. */
export type GrantMade = GrantShape & { readonly key: KeyDetail; readonly replayed: boolean }
