import type { Scope } from '../../endpoints.ts'
import type { Key } from '../keys/key.ts'
import { cidrContains } from './cidr.ts'

type AccessRefusal = 'insufficient_scope' | 'ip_not_allowed'

export function whyNoAccess(key: Key, scope: Scope | undefined, sourceIp: string): AccessRefusal | undefined {
  if (scope && !key.scopes.includes(scope)) return 'insufficient_scope'
  if (key.allowlist.length > 0 && !key.allowlist.some((cidr) => cidrContains(cidr, sourceIp))) return 'ip_not_allowed'
  return undefined
}
