import { preflightHeaders } from '../wire/requests/cross-origin.ts'
import type { Middleware } from './gate.ts'

// Answers to calls that have no key: nothing is read, and no row is written.

/** A browser asks so before it sends a page's request to another address than the page's own (CORS). */
export function answerBrowsers(headerPrefix: string): Middleware {
  const headers = preflightHeaders(headerPrefix)
  return {
    before: ({ event, context }) => {
      if (event.requestContext.http.method !== 'OPTIONS') return
      return { statusCode: 204, headers: { ...headers, 'X-Request-Id': context.request.requestId }, body: '' }
    },
  }
}

export type Page = { readonly body: string; readonly headers: Readonly<Record<string, string>> }

export type Pages = Readonly<Record<string, () => Page | Promise<Page>>>

export function servePages(pages: Pages): Middleware {
  const known = new Map(Object.entries(pages))
  return {
    before: async ({ event, context }) => {
      const { method } = event.requestContext.http
      const load = method === 'GET' || method === 'HEAD' ? known.get(event.rawPath) : undefined
      if (!load) return
      const { body, headers } = await load()
      const withId = { ...headers, 'X-Request-Id': context.request.requestId }
      return { statusCode: 200, headers: withId, body: method === 'HEAD' ? '' : body }
    },
  }
}
