// The catalog and its routes, as the admin API tells them. Amounts of credits are decimal strings, moments are ISO 8601 in UTC.

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
  /** Of the provider's model, whichever model of the catalog was asked for. */
  readonly requests_24h: number
  /** Those that failed, even if another route then answered. */
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
