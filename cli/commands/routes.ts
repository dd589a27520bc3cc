import type { List } from '../../layers/admin/api/shapes/answers.ts'
import type { RouteShape, RouteTestShape } from '../../layers/admin/api/shapes/catalog.ts'
import { fields, printList, summed } from '../../layers/terminal/output.ts'
import type { Ask } from '../admin-client/ask.ts'
import type { CommandRow, Session } from './open-session.ts'

export const ROUTES: CommandRow = {
  words: 'the upstreams behind the models',
  commands: {
    list: {
      words: 'every route of the active models in the order it is tried, and how it did in the last 24 hours',
      async work(session: Session) {
        printList(session, await session.admin.get<List<RouteShape>>('/routes'), {
          ...fields('model', 'order', 'provider', 'upstream_model'),
          asked: summed((route) => route.requests_24h),
          refused: summed((route) => route.refused_24h),
          failed: {
            ...summed((route) => route.failures_24h),
            style: (route) => (route.failures_24h > 0 ? 'bad' : undefined),
          },
        })
      },
    },
    'test [model]': {
      words: 'send one tiny request through every route of the catalog; exits with 1 if one fails',
      async work(session: Session, _: object, model?: string) {
        const tests = await testedRoutes(session.admin, model)
        printList(session, tests, {
          ...fields('model', 'provider', 'upstream_model'),
          'first token (ms)': (test) => test.first_token_ms,
          tokens: summed((test) => test.tokens),
          credits: summed((test) => test.cost),
          result: { of: (test) => test.result, style: ({ ok }) => (ok ? 'good' : 'bad') },
        })
        if (!tests.data.every(({ ok }) => ok)) session.fail()
      },
    },
  },
}

export async function testedRoutes(admin: Ask, model?: string): Promise<List<RouteTestShape>> {
  const data: RouteTestShape[] = []
  for (let after: string | undefined; ; ) {
    const page = await admin.check<List<RouteTestShape>>('/routes/test', { model, after })
    data.push(...page.data)
    if (page.last_id === null) return { ...page, data }
    after = page.last_id
  }
}
