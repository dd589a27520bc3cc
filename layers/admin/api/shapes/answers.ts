import type { KeyShape } from './keys.ts'

// What answers of the admin API have in common, and who asks it. Amounts of credits are decimal strings, moments are ISO 8601 in UTC.

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

/** `GET /search?q=`: by request id, key id, external id, name or last four. */
export type SearchShape = {
  readonly object: 'search'
  readonly keys: readonly KeyShape[]
  readonly request_id: string | null
}
