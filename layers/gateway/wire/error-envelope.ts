import type { GatewayError } from '../domain/gateway-error.ts'

export function errorEnvelope({ message, type, param, code }: GatewayError) {
  return { error: { message, type, param, code } }
}
