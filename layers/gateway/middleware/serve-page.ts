import type { Middleware } from './gate.ts'

export type Page = { readonly body: string; readonly headers: Readonly<Record<string, string>> }

/** Answers GET of one path with a page, for which no key is needed: nothing is read, and no row is written. */
export function servePage(path: string, load: () => Promise<Page>): Middleware {
  return {
    before: async ({ event, context }) => {
      const { method } = event.requestContext.http
      if (event.rawPath !== path || (method !== 'GET' && method !== 'HEAD')) return
      const { body, headers } = await load()
      const withId = { ...headers, 'X-Request-Id': context.request.requestId }
      return { statusCode: 200, headers: withId, body: method === 'HEAD' ? '' : body }
    },
  }
}
