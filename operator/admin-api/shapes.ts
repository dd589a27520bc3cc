// The shapes of the admin API, as its handler writes them and the console reads them. Amounts of credits are decimal
// strings, moments are ISO 8601 in UTC.

export type List<T> = {
  readonly object: 'list'
  readonly data: readonly T[]
  readonly has_more: boolean
  /** To be sent as `after` for the next page. */
  readonly last_id: string | null
}

export type ApiError = {
  readonly error: {
    readonly message: string
    readonly type: string
    readonly param: string | null
    readonly code: string | null
  }
}

export type WhoAmI = {
  readonly object: 'identity'
  /** The IAM ARN, the admin key's id or the local user, as events name it. */
  readonly by: string
  readonly stage: string
  /** Whether a change is asked about first. */
  readonly protected: boolean
  readonly scopes: readonly string[]
  /** With /v1, as SDKs take it. */
  readonly base_url: string
  /** From which this machine's own requests reach the gateway, where that is known: 127.0.0.1 for the local one. */
  readonly address?: string | null
}

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

export type EventShape = {
  readonly object: 'event'
  readonly id: string
  readonly at: string
  readonly by: string
  /** 'key.created', 'key.updated', 'key.rotated', 'key.grace_ended', 'key.revoked', 'key.granted', 'catalog.pushed', 'catalog.rolled_back' … */
  readonly what: string
  readonly key_id: string | null
  readonly before: Readonly<Record<string, unknown>> | null
  readonly after: Readonly<Record<string, unknown>> | null
}

/** A line or several under a name, as `usage show` prints them. */
export type Explained = {
  readonly part: 'facts' | 'charge'
  readonly name: string
  readonly lines: readonly string[]
}

export type RequestShape = {
  readonly object: 'request'
  readonly request_id: string
  /** 'open' has no row yet, only a hold. */
  readonly state: 'settled' | 'open'
  readonly key_id: string
  readonly key_name: string | null
  /** The row as `GET /v1/usage/{id}` tells it, and the operator's part of it. */
  readonly row: (Readonly<Record<string, unknown>> & { readonly attempts: readonly AttemptShape[] }) | null
  readonly hold: HoldShape | null
  readonly upstream_cost: string | null
  readonly margin: string | null
  /** The charge: what was counted, at what price, and what that comes to. */
  readonly bill: readonly BillLineShape[]
  readonly explanation: readonly Explained[]
}

export type AttemptShape = { readonly provider: string; readonly result: string; readonly ms: number }

export type BillLineShape = {
  readonly what: string
  readonly quantity: number
  /** For a million, or for one where it is priced by the piece. */
  readonly price: string
  readonly per: 'million' | 'one'
  readonly amount: string
}

/** A request in a list. */
export type RequestLine = {
  readonly object: 'request.line'
  readonly request_id: string
  readonly key_id: string
  readonly key_name: string | null
  readonly started_at: string
  readonly endpoint: string
  readonly model: string | null
  readonly provider: string | null
  readonly stream: boolean
  readonly http_status: number
  readonly outcome: string
  readonly error_code: string | null
  readonly replay_of: string | null
  readonly total_tokens: number
  readonly cost: string
  readonly duration_ms: number
}

export type UsageGroup = 'model' | 'key' | 'provider' | 'day'

/** `GET /usage?bucket=1d&group_by=model&from=2026-11-01&to=2026-11-15`: `to` is not included; UTC days. */
export type UsagePage = {
  readonly object: 'page'
  readonly group_by: UsageGroup
  readonly data: readonly UsageBucket[]
  readonly total: UsageNumbers
  /** By group over the whole range, the dearest first; days in their order. */
  readonly groups: readonly (UsageNumbers & { readonly group: string; readonly label: string })[]
}

export type UsageBucket = {
  readonly object: 'bucket'
  readonly start_time: string
  readonly end_time: string
  /** A closed day's totals do not change any more. */
  readonly closed: boolean
  readonly results: readonly (UsageNumbers & { readonly group: string })[]
}

export type UsageNumbers = {
  readonly requests: number
  readonly completed: number
  readonly refused: number
  readonly failed: number
  readonly prompt_tokens: number
  readonly completion_tokens: number
  readonly cached_tokens: number
  readonly cost: string
  readonly upstream_cost: string
  readonly margin: string
  /** Answers whose route does not say what it costs, which the margin leaves out. */
  readonly without_cost: number
  /** The share of the largest bar in thousandths of `cost`, so that nobody computes with amounts to draw. */
  readonly share: number
}

export type Overview = {
  readonly object: 'overview'
  readonly spent_today: string
  readonly spent_7_days: string
  readonly requests_today: number
  /** Of today and yesterday. */
  readonly errors: readonly { readonly code: string; readonly requests: number }[]
  readonly keys: { readonly active: number; readonly expired: number; readonly revoked: number }
  /** The keys that will be the first to run dry. */
  readonly low: readonly KeyShape[]
  readonly last_audit: { readonly at: string; readonly keys: number; readonly wrong: number } | null
  readonly routes: readonly RouteShape[]
}

export type CatalogShape = {
  readonly object: 'catalog'
  readonly version: number
  readonly pushed_at: string
  readonly by: string | null
  readonly catalog: Readonly<Record<string, unknown>>
  /** In words, against `compared_to`. */
  readonly changes: readonly string[]
  /** The version before, unless another is asked for; null if that is not kept. */
  readonly compared_to: number | null
  readonly warnings: readonly string[]
}

export type CatalogVersionShape = {
  readonly object: 'catalog.version'
  readonly version: number
  readonly pushed_at: string
  readonly by: string | null
  readonly in_force: boolean
}

export type CatalogCheck = {
  readonly object: 'catalog.check'
  readonly valid: boolean
  readonly faults: readonly { readonly path: string; readonly message: string }[]
  readonly warnings: readonly string[]
  /** In words, against the one in force. */
  readonly changes: readonly string[]
  /** What it was compared with; null if there is none yet. */
  readonly in_force: { readonly version: number; readonly pushed_at: string } | null
}

export type RouteShape = {
  readonly object: 'route'
  readonly model: string
  readonly provider: string
  readonly upstream_model: string
  /** 1 is tried first. */
  readonly order: number
  readonly first_byte_timeout_ms: number
  readonly idle_timeout_ms: number
  readonly requests_24h: number
  readonly failures_24h: number
}

export type RouteTestShape = {
  readonly object: 'route.test'
  readonly model: string
  readonly provider: string
  readonly upstream_model: string
  readonly ok: boolean
  readonly result: string
  readonly first_token_ms: number | null
  readonly tokens: number | null
  readonly cost: string | null
}

/** What the audit of a key has found. */
export type AuditShape = {
  readonly object: 'audit'
  readonly key_id: string
  readonly name: string
  readonly granted: string
  readonly available: string
  readonly held: string
  readonly spent: string
  readonly rows: number
  readonly row_costs: string
  /** Of these, the rows that have expired and are known from the totals of their days. */
  readonly expired_rows: number
  /** Granted = available + held + spent, and nothing below zero. */
  readonly balances: boolean
  /** Spent = the sum of the rows' costs. */
  readonly explained: boolean
  /** Nothing at all is wrong. */
  readonly ok: boolean
  readonly findings: readonly { readonly about: string; readonly text: string; readonly note: boolean }[]
  readonly more_findings: number
}

/** A line of `POST /audits`, which answers in NDJSON: one for each key, and the last without which it broke off. */
export type AuditLine =
  | AuditShape
  | { readonly object: 'audit.summary'; readonly keys: number; readonly wrong: number; readonly at: string }

/** `GET /search?q=`: by request id, key id, external id, name or last four. */
export type SearchShape = {
  readonly object: 'search'
  readonly keys: readonly KeyShape[]
  readonly request_id: string | null
}
