import type { Scope } from '../../endpoints.ts'
import type { Key } from '../keys/key.ts'
import type { Catalog, PricedModel } from '../routing/catalog.ts'
import { cidrContains } from './cidr.ts'

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

/** The first place of each text between stars leaves the most room for the next, so nothing is tried again. */
export function matchesPattern(pattern: string, id: string): boolean {
  const [first = '', ...rest] = pattern.split('*')
  const last = rest.pop()
  if (last === undefined) return first === id
  const end = id.length - last.length
  let at = first.length
  if (at > end || !id.startsWith(first) || !id.endsWith(last)) return false
  for (const text of rest) {
    const found = id.indexOf(text, at)
    if (found < 0) return false
    at = found + text.length
  }
  return at <= end
}
