import type { Middleware } from './gate.ts'

export type Page = { readonly body: string; readonly headers: Readonly<Record<string, string>> }

export type Pages = Readonly<Record<string, () => Page | Promise<Page>>>

/** Answers GET of some paths, for which no key is needed: nothing is read, and no row is written. */
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
