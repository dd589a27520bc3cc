import { whyNoAccess } from '../domain/access.ts'
import { GatewayError } from '../domain/gateway-error.ts'
import type { IdentifiedRequest } from '../request.ts'
import type { ReadKey } from '../store/keys/read-key.ts'
import type { Gate } from './gate.ts'
import { invalidKey, keyRefusal } from './identify.ts'
import type { KeyCache } from './key-cache.ts'

type AuthorizeDeps = {
  readonly readKey: ReadKey
  readonly cache: KeyCache
}

/** Checks scope and address. No write proves a cached copy here, so the key is read again before a refusal. */
export function authorize({ readKey, cache }: AuthorizeDeps): Gate<IdentifiedRequest, IdentifiedRequest> {
  return {
    pass: (request) => {
      const { key } = request.credential
      return whyNoAccess(key, request.endpoint.scope, request.sourceIp) ? lookAgain(request) : request
    },
  }

  async function lookAgain(request: IdentifiedRequest): Promise<IdentifiedRequest> {
    const { credential } = request
    const key = credential.cached ? await readKey(credential.key.id) : credential.key
    const refusal = keyRefusal(key, credential.hash, request.nowMs)
    if (!key || refusal) {
      cache.drop(credential.hash)
      throw refusal ?? invalidKey()
    }
    request.credential = { ...credential, key, cached: false }
    requireAccess(request)
    return request
  }
}

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
