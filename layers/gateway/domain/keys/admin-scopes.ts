export const ADMIN_SCOPES = [
  'keys.read',
  'keys.write',
  'credits.grant',
  'usage.read',
  'catalog.read',
  'catalog.write',
] as const

export type AdminScope = (typeof ADMIN_SCOPES)[number]

/** Also those that no admin key may have: one that made another would have no bounds. */
export const OPERATOR_SCOPES = [...ADMIN_SCOPES, 'admin_keys.read', 'admin_keys.write'] as const

export type OperatorScope = (typeof OPERATOR_SCOPES)[number]
