import { GatewayError } from '../../domain/basics/gateway-error.ts'
import { isoTime } from '../../domain/basics/time.ts'
import { type Key, standingOf } from '../../domain/keys/key.ts'

export function suspendedKey(): GatewayError {
  return new GatewayError(
    'key_suspended',
    "This API key is suspended: the gateway's operator has stopped it for now. Ask the operator to resume it; the key stays the same.",
  )
}

export function expiredKey({ expiresAtMs = 0 }: Key): GatewayError {
  return new GatewayError(
    'invalid_api_key',
    `Incorrect API key provided: it expired at ${isoTime(expiresAtMs)}. Use a new one, or ask the gateway's operator to extend it.`,
  )
}

export function keyRefusal(key: Key | undefined, hash: string, nowMs: number): GatewayError | undefined {
  const standing = key ? standingOf(key, hash, nowMs) : 'refused'
  if (standing === 'suspended') return suspendedKey()
  if (standing === 'expired') return expiredKey(key as Key)
  return standing === 'refused' ? invalidKey() : undefined
}

/** One answer for malformed, unknown and revoked keys tells a stranger nothing. Clients know its first words. */
export function invalidKey(): GatewayError {
  return new GatewayError(
    'invalid_api_key',
    'Incorrect API key provided. Check that it is whole; if it was rotated or revoked, use a new one.',
  )
}
