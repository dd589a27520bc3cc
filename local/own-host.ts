import type { IncomingMessage } from 'node:http'
import { GatewayError } from '../layers/gateway/domain/gateway-error.ts'
import { errorEnvelope } from '../layers/gateway/wire/frames.ts'

const OWN_NAMES = /^(127\.0\.0\.1|localhost|\[::1\])(:\d{1,5})?$/i

/** True if a request was sent to this machine by one of its own names, and not by a page whose name resolves to it. */
export function isForOwnHost({ headers }: IncomingMessage): boolean {
  return OWN_NAMES.test(headers.host ?? '')
}

export const FOREIGN_HOST = errorEnvelope(
  new GatewayError(
    'ip_not_allowed',
    'The Host header must be 127.0.0.1, localhost or [::1]: this gateway serves its own machine only.',
    { code: 'host_not_allowed' },
  ),
)
