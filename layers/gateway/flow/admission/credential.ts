import { whyNoAccess } from '../../domain/admission/access.ts'
import { GatewayError } from '../../domain/basics/gateway-error.ts'
import type { Key } from '../../domain/keys/key.ts'
import type { GatewayEvent, IdentifiedRequest } from '../request.ts'

/** The secret in the header of OpenAI's clients or, without that, of Anthropic's. */
export function secretOf({ headers }: GatewayEvent): string | undefined {
  const { authorization } = headers
  return authorization === undefined ? headers['x-api-key'] : /^Bearer +([^\s]+) *$/i.exec(authorization)?.[1]
}

const MOST_KEYS = 1_000

/** Keys that this instance has met, by hash. A copy may be stale: admission proves its version in the write that uses it. */
export class KeyCache {
  readonly #keys = new Map<string, Key>()

  get(hash: string): Key | undefined {
    return this.#keys.get(hash)
  }

  put(hash: string, key: Key): void {
    this.#keys.delete(hash)
    this.#keys.set(hash, Object.keys(key.holds).length === 0 ? key : { ...key, holds: {} })
    if (this.#keys.size > MOST_KEYS) this.#keys.delete(this.#keys.keys().next().value as string)
  }

  drop(hash: string): void {
    this.#keys.delete(hash)
  }
}

/** Throws unless the key has the endpoint's scope and may be used from this address. */
export function requireAccess({ credential, endpoint, sourceIp }: IdentifiedRequest): void {
  const { key } = credential
  const why = whyNoAccess(key, endpoint.scope, sourceIp)
  if (why === undefined) return
  const scopes = key.scopes.map((scope) => `'${scope}'`).join(', ') || 'none'
  const words = {
    insufficient_scope: `This key may not call this endpoint: it needs the scope '${endpoint.scope}' and has ${scopes}.`,
    ip_not_allowed: `This key may not be used from the address ${sourceIp}: it is not on the key's allowlist.`,
  }
  throw new GatewayError(why, words[why])
}
