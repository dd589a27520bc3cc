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

/** Enough to look, and to change nothing. */
export const READING_SCOPES = ADMIN_SCOPES.filter((scope) => scope.endsWith('.read'))
