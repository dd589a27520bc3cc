import { preflightHeaders } from '../wire/cross-origin.ts'
import type { Middleware } from './gate.ts'

/** A browser asks before it calls, without a key. It is answered at once: nothing is read, and no row is left. */
export function preflight(headerPrefix: string): Middleware {
  const headers = preflightHeaders(headerPrefix)
  return {
    before: ({ event, context }) => {
      if (event.requestContext.http.method !== 'OPTIONS') return
      return { statusCode: 204, headers: { ...headers, 'X-Request-Id': context.request.requestId }, body: '' }
    },
  }
}
