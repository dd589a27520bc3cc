import type { Scope } from '../../endpoints.ts'
import type { Key } from '../keys/key.ts'
import type { Catalog, PricedModel } from '../routing/catalog.ts'
import { cidrContains } from './cidr.ts'
import { matchesPattern } from './matches-pattern.ts'

export function whyNoAccess(key: Key, scope: Scope | undefined, sourceIp: string) {
  if (scope && !key.scopes.includes(scope)) return 'insufficient_scope'
  if (key.allowlist.length > 0 && !key.allowlist.some((cidr) => cidrContains(cidr, sourceIp))) return 'ip_not_allowed'
  return undefined
}

export function mayUseModel({ models }: Pick<Key, 'models'>, id: string): boolean {
  return models.length === 0 || models.some((pattern) => matchesPattern(pattern, id))
}

export function modelsFor(key: Key, { models }: Catalog): PricedModel[] {
  return [...models.values()].filter(({ id }) => mayUseModel(key, id))
}
