import type { HoldShape } from './keys.ts'

// Requests and their charges, as the admin API tells them. Amounts of credits are decimal strings, moments are ISO 8601 in UTC.

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
  readonly row: (Readonly<Record<string, unknown>> & RowParts) | null
  readonly hold: HoldShape | null
  readonly upstream_cost: string | null
  /** Whose word that is. */
  readonly upstream_cost_source: 'provider' | 'catalog' | null
  readonly margin: string | null
  /** The charge: what was counted, at what price, and what that comes to. */
  readonly bill: readonly BillLineShape[]
  readonly explanation: readonly Explained[]
}

type RowParts = {
  readonly attempts: readonly AttemptShape[]
  /** `above` so many prompt tokens, if it was charged at a tier. */
  readonly pricing?: { readonly above?: number } | null
}

export type AttemptShape = {
  readonly provider: string
  readonly model: string
  readonly result: string
  readonly ms: number
}

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
