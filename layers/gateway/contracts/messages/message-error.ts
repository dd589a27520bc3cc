import type { GatewayError } from '../../domain/basics/gateway-error.ts'

const TYPES: ReadonlyMap<number, string> = new Map([
  [401, 'authentication_error'],
  [402, 'billing_error'],
  [403, 'permission_error'],
  [404, 'not_found_error'],
  [413, 'request_too_large'],
  [429, 'rate_limit_error'],
  [503, 'overloaded_error'],
  [504, 'timeout_error'],
])

/** Anthropic's shape of an error, in an event or as a whole body. */
export function messageError({ status, message }: GatewayError, requestId: string): object {
  const type = TYPES.get(status) ?? (status < 500 ? 'invalid_request_error' : 'api_error')
  return { type: 'error', error: { type, message }, request_id: requestId }
}
