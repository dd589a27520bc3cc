import { whyNoAccess } from '../domain/access.ts'
import { GatewayError } from '../domain/gateway-error.ts'
import { type Key, standingOf } from '../domain/key.ts'
import type { Passage } from '../flow/passage.ts'
import type { Gate } from './gate.ts'
import { invalidKey } from './identify.ts'
import type { KeyCache } from './key-cache.ts'

export type AuthorizeDeps = {
  readonly readKey: (keyId: string) => Promise<Key | undefined>
  readonly cache: KeyCache
}

/** Scope and address. A refusal spends nothing, so nothing proves a cached copy here: before refusing, look again. */
export function authorize({ readKey, cache }: AuthorizeDeps): Gate {
  return {
    before: async ({ context: { passage } }) => {
      const { credential } = passage
      if (!credential || !whyNoAccess(credential.key, passage.endpoint.scope, passage.sourceIp)) return
      if (credential.cached) {
        const key = await readKey(credential.key.id)
        if (!key || standingOf(key, credential.hash, passage.nowMs) === 'refused') {
          cache.drop(credential.hash)
          delete passage.credential
          throw invalidKey()
        }
        passage.credential = { hash: credential.hash, key, cached: false }
      }
      requireAccess(passage)
    },
  }
}

export function requireAccess({ credential, endpoint, sourceIp }: Passage): void {
  const why = credential && whyNoAccess(credential.key, endpoint.scope, sourceIp)
  if (why === 'insufficient_scope') {
    throw new GatewayError(
      why,
      `This key may not call this endpoint: it needs the scope '${endpoint.scope}' and has ${listOf(credential?.key.scopes)}.`,
    )
  }
  if (why === 'ip_not_allowed') {
    throw new GatewayError(
      why,
      `This key may not be used from the address ${sourceIp}: it is not on the key's allowlist.`,
    )
  }
}

function listOf(scopes: readonly string[] = []): string {
  return scopes.length === 0 ? 'none' : scopes.map((scope) => `'${scope}'`).join(', ')
}
