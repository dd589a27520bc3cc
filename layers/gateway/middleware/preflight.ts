import { preflightHeaders } from '../wire/requests/cross-origin.ts'
import type { Middleware } from './gate.ts'

/** A browser's preflight request has no key. It is answered at once: nothing is read, and no row is written. */
export function preflight(headerPrefix: string): Middleware {
  const headers = preflightHeaders(headerPrefix)
  return {
    before: ({ event, context }) => {
      if (event.requestContext.http.method !== 'OPTIONS') return
      return { statusCode: 204, headers: { ...headers, 'X-Request-Id': context.request.requestId }, body: '' }
    },
  }
}
