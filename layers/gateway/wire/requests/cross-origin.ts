import { type Headers, ownNames, windowHeaders } from './headers.ts'

// Pages of any origin may call the gateway and read its answers. That is safe because a key is only ever read from a
// header of its own: a browser sends none by itself, as it would a cookie, so a foreign page can do nothing that it
// could not do without a browser.

/** A day, which is the longest that a browser keeps it. */
const PREFLIGHT_SECONDS = 86_400

const EXPOSED = [
  'X-Request-Id',
  'Request-Id',
  'RateLimit-Limit',
  'RateLimit-Remaining',
  'RateLimit-Reset',
  ...windowHeaders('requests'),
  ...windowHeaders('tokens'),
  'Retry-After',
  'x-should-retry',
  'Allow',
]

export function crossOriginHeaders(prefix: string): Headers {
  return {
    'Access-Control-Allow-Origin': '*',
    'Access-Control-Expose-Headers': [...EXPOSED, ...Object.values(ownNames(prefix))].join(', '),
  }
}

export function preflightHeaders(prefix: string): Headers {
  return {
    'Access-Control-Allow-Origin': '*',
    'Access-Control-Allow-Methods': 'GET, HEAD, POST',
    'Access-Control-Allow-Headers': `Authorization, Content-Type, Idempotency-Key, ${prefix}Route, *`,
    'Access-Control-Max-Age': String(PREFLIGHT_SECONDS),
  }
}
