import { whyNoAccess } from '../../domain/admission/access.ts'
import { GatewayError } from '../../domain/basics/gateway-error.ts'
import type { IdentifiedRequest } from '../request.ts'

/** Throws unless the key has the endpoint's scope and may be used from this address. */
export function requireAccess({ credential, endpoint, sourceIp }: IdentifiedRequest): void {
  const why = whyNoAccess(credential.key, endpoint.scope, sourceIp)
  if (why === 'insufficient_scope') {
    throw new GatewayError(
      why,
      `This key may not call this endpoint: it needs the scope '${endpoint.scope}' and has ${listOf(credential.key.scopes)}.`,
    )
  }
  if (why === 'ip_not_allowed') {
    throw new GatewayError(
      why,
      `This key may not be used from the address ${sourceIp}: it is not on the key's allowlist.`,
    )
  }
}

function listOf(scopes: readonly string[]): string {
  return scopes.length === 0 ? 'none' : scopes.map((scope) => `'${scope}'`).join(', ')
}
