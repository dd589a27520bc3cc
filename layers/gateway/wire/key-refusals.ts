import { GatewayError } from '../domain/gateway-error.ts'
import type { Key } from '../domain/key.ts'
import { isoTime } from '../domain/time.ts'

/** The holder of a suspended key's secret may learn that the key is suspended. */
export function suspendedKey(): GatewayError {
  return new GatewayError(
    'key_suspended',
    "This API key is suspended: the gateway's operator has stopped it for now. Ask the operator to resume it; the key stays the same.",
  )
}

/** The holder of an expired key's secret may learn that it has expired. */
export function expiredKey({ expiresAtMs = 0 }: Key): GatewayError {
  return new GatewayError(
    'invalid_api_key',
    `Incorrect API key provided: it expired at ${isoTime(expiresAtMs)}. Use a new one, or ask the gateway's operator to extend it.`,
  )
}
