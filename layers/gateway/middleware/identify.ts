import { GatewayError } from '../domain/gateway-error.ts'
import { type Key, standingOf } from '../domain/key.ts'
import { hashSecret } from '../domain/secret.ts'
import { isSecret } from '../domain/secret-text.ts'
import { needsCatalog } from '../endpoints.ts'
import type { IdentifiedRequest, OpenedRequest } from '../request.ts'
import type { FindKeyId, ReadKey } from '../store/keys/read-key.ts'
import { expiredKey, suspendedKey } from '../wire/key-refusals.ts'
import { type Gate, type GatewayEvent, headerOf } from './gate.ts'
import type { KeyCache } from './key-cache.ts'

type IdentifyDeps = {
  readonly findKeyId: FindKeyId
  readonly readKey: ReadKey
  readonly cache: KeyCache
  readonly keyPrefix: string
  /**
   * Starts to read the catalog for an endpoint that needs it, in parallel to the key's own reads, and not for a malformed
   * key.
   */
  readonly prefetch: () => void
}

export function identify(deps: IdentifyDeps): Gate<OpenedRequest, IdentifiedRequest> {
  const { findKeyId, readKey, cache, keyPrefix, prefetch } = deps
  return {
    pass: (request, event) => {
      const secret = secretOf(event)
      if (secret === undefined || !isSecret(keyPrefix, secret)) throw request.refusal ?? notAKey(event)
      if (needsCatalog(request.endpoint)) prefetch()
      const hash = hashSecret(secret)
      // A known copy may be stale in either direction; admission proves it.
      const key = cache.get(hash)
      return key ? Object.assign(request, { credential: { hash, key, cached: true } }) : find(request, hash)
    },
  }

  async function find(request: OpenedRequest, hash: string): Promise<IdentifiedRequest> {
    const keyId = await findKeyId(hash)
    const key = keyId === undefined ? undefined : await readKey(keyId)
    const refusal = keyRefusal(key, hash, request.nowMs)
    if (!key || refusal) throw request.refusal ?? refusal ?? invalidKey()
    return Object.assign(request, { credential: { hash, key, cached: false } })
  }
}

/** The reason why this secret does not open this key now; undefined if it does. */
export function keyRefusal(key: Key | undefined, hash: string, nowMs: number): GatewayError | undefined {
  const standing = key ? standingOf(key, hash, nowMs) : 'refused'
  if (standing === 'suspended') return suspendedKey()
  if (standing === 'expired') return expiredKey(key as Key)
  return standing === 'refused' ? invalidKey() : undefined
}

/**
 * One answer for malformed, unknown and revoked keys, so that it tells a stranger nothing. It begins with OpenAI's
 * message, by which some clients recognise the error; unlike OpenAI's it repeats nothing of the key.
 */
export function invalidKey(): GatewayError {
  return new GatewayError(
    'invalid_api_key',
    'Incorrect API key provided. Check that it is whole; if it was rotated or revoked, use a new one.',
  )
}

function notAKey(event: GatewayEvent): GatewayError {
  const header = headerOf(event, 'authorization')
  if (header === undefined ? headerOf(event, 'x-api-key') : /^Bearer +\S/i.test(header)) return invalidKey()
  return new GatewayError(
    'invalid_api_key',
    "You didn't provide an API key. Send yours in the header 'Authorization: Bearer <key>'.",
  )
}

/** The secret in the header of OpenAI's clients or, without that, of Anthropic's. */
export function secretOf(event: GatewayEvent): string | undefined {
  const header = headerOf(event, 'authorization')
  return header === undefined ? headerOf(event, 'x-api-key') : /^Bearer +([^\s]+) *$/i.exec(header)?.[1]
}
