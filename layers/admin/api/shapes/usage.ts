import type { RouteShape } from './catalog.ts'
import type { KeyShape } from './keys.ts'

// What was used, as the admin API adds it up. Amounts of credits are decimal strings, moments are ISO 8601 in UTC.

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
