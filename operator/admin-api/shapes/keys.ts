// Keys and their credits, as the admin API tells them and is told. Amounts of credits are decimal strings, moments are ISO 8601 in UTC.

export type KeyStatus = 'active' | 'expired' | 'revoked'

export type KeyShape = {
  readonly object: 'key'
  readonly id: string
  readonly name: string
  readonly status: KeyStatus
  readonly prefix: string
  readonly last_four: string
  /** The old secret of a rotated key, while it is valid. */
  readonly previous: {
    readonly last_four: string
    readonly expires_at: string
    readonly last_used_at: string | null
  } | null
  readonly scopes: readonly string[]
  readonly allowlist: readonly string[]
  readonly rpm: number
  readonly daily_limit: number
  readonly max_concurrent: number
  readonly requests_today: number
  readonly requests_open: number
  readonly granted: string
  readonly available: string
  readonly held: string
  readonly spent: string
  readonly external_id: string | null
  readonly expires_at: string | null
  readonly note: string | null
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

export type CreateKeyBody = {
  readonly name: string
  readonly credits?: string
  readonly scopes?: readonly string[]
  readonly allowlist?: readonly string[]
  readonly rpm?: number
  readonly daily_limit?: number
  readonly max_concurrent?: number
  readonly external_id?: string | null
  readonly expires_at?: string | null
  readonly note?: string | null
  /** Of a secret that the caller made: the SHA-256 in hex, and its last four characters. */
  readonly secret_sha256?: string
  readonly last_four?: string
}

/** With `If-Match`. Null clears what may be absent. */
export type UpdateKeyBody = Omit<Partial<CreateKeyBody>, 'credits' | 'secret_sha256' | 'last_four'>

export type RotateBody = {
  readonly grace_seconds?: number
  readonly secret_sha256?: string
  readonly last_four?: string
}

/** The key's name, typed. */
export type RevokeBody = { readonly confirm: string }

export type GrantBody = { readonly credits: string }

export type GrantShape = {
  readonly object: 'grant'
  readonly id: string
  readonly credits: string
  readonly by: string
  readonly granted_at: string
}

/** The answer to a grant, and the key as it is now. */
export type GrantMade = GrantShape & { readonly key: KeyDetail; readonly replayed: boolean }
