import { GatewayError } from '../domain/gateway-error.ts'
import { type Key, standingOf } from '../domain/key.ts'
import { hashSecret, isSecret } from '../domain/secret.ts'
import { type Gate, headerOf } from './gate.ts'
import type { KeyCache } from './key-cache.ts'

export type IdentifyDeps = {
  readonly findKeyId: (hash: string) => Promise<string | undefined>
  readonly readKey: (keyId: string) => Promise<Key | undefined>
  readonly cache: KeyCache
  readonly keyPrefix: string
  /** What else will be needed if the key is known: begun beside the key's own reads, and not for a malformed one. */
  readonly prefetch?: (() => void) | undefined
}

export function identify({ findKeyId, readKey, cache, keyPrefix, prefetch }: IdentifyDeps): Gate {
  return {
    before: async ({ event, context: { passage } }) => {
      const secret = bearerToken(headerOf(event, 'authorization'))
      if (secret === undefined || !isSecret(keyPrefix, secret)) throw passage.refusal ?? invalidKey()
      prefetch?.()
      const hash = hashSecret(secret)
      const known = cache.get(hash)
      const key = known ?? (await findKey(hash))
      if (!key || (!known && standingOf(key, hash, passage.nowMs) === 'refused')) throw passage.refusal ?? invalidKey()
      passage.credential = { hash, key, cached: known !== undefined }
    },
  }

  async function findKey(hash: string): Promise<Key | undefined> {
    const keyId = await findKeyId(hash)
    return keyId === undefined ? undefined : readKey(keyId)
  }
}

/** One answer for missing, malformed, unknown, expired and revoked, so that it tells a stranger nothing. */
export function invalidKey(): GatewayError {
  return new GatewayError(
    'invalid_api_key',
    "No valid API key was provided. Send your key as 'Authorization: Bearer <key>'; if it was rotated or revoked, use a new one.",
  )
}

export function bearerToken(header: string | undefined): string | undefined {
  return /^Bearer +([^\s]+) *$/i.exec(header ?? '')?.[1]
}
