// The books of the admin API: who changed what, and whether it adds up. Amounts of credits are decimal strings, moments are ISO 8601 in UTC.

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
