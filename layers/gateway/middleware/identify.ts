import { GatewayError } from '../domain/gateway-error.ts'
import { type Key, standingOf } from '../domain/key.ts'
import { hashSecret, isSecret } from '../domain/secret.ts'
import type { IdentifiedRequest, OpenedRequest } from '../request.ts'
import { type Gate, type GatewayEvent, headerOf } from './gate.ts'
import type { KeyCache } from './key-cache.ts'

type IdentifyDeps = {
  readonly findKeyId: (hash: string) => Promise<string | undefined>
  readonly readKey: (keyId: string) => Promise<Key | undefined>
  readonly cache: KeyCache
  readonly keyPrefix: string
  /** Begins a read that will be needed if the key is known, beside the key's own reads and not for a malformed key. */
  readonly prefetch?: (() => void) | undefined
}

export function identify(deps: IdentifyDeps): Gate<OpenedRequest, IdentifiedRequest> {
  const { findKeyId, readKey, cache, keyPrefix, prefetch } = deps
  return {
    pass: async (request, event) => {
      const secret = secretOf(event)
      if (secret === undefined || !isSecret(keyPrefix, secret)) throw request.refusal ?? invalidKey()
      prefetch?.()
      const hash = hashSecret(secret)
      const known = cache.get(hash)
      const key = known ?? (await findKey(hash))
      if (!key || (!known && standingOf(key, hash, request.nowMs) === 'refused')) throw request.refusal ?? invalidKey()
      return Object.assign(request, { credential: { hash, key, cached: known !== undefined } })
    },
  }

  async function findKey(hash: string): Promise<Key | undefined> {
    const keyId = await findKeyId(hash)
    return keyId === undefined ? undefined : readKey(keyId)
  }
}

/** One answer for missing, malformed, unknown, expired and revoked keys, so that it tells a stranger nothing. */
export function invalidKey(): GatewayError {
  return new GatewayError(
    'invalid_api_key',
    "No valid API key was provided. Send your key as 'Authorization: Bearer <key>'; if it was rotated or revoked, use a new one.",
  )
}

/** The secret as OpenAI's clients send it or, without that header, as Anthropic's do. */
export function secretOf(event: GatewayEvent): string | undefined {
  const header = headerOf(event, 'authorization')
  return header === undefined ? headerOf(event, 'x-api-key') : /^Bearer +([^\s]+) *$/i.exec(header)?.[1]
}
