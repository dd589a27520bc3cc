import type { Command } from 'commander'
import type { List } from '../../layers/admin/api/shapes/answers.ts'
import type { RouteShape, RouteTestShape } from '../../layers/admin/api/shapes/catalog.ts'
import { printJson } from '../../layers/terminal/output.ts'
import { printTable, summed, wide } from '../../layers/terminal/table.ts'
import type { Screen } from '../../layers/terminal/terminal.ts'
import type { Ask } from '../admin-client/ask.ts'
import type { Run } from './run.ts'

export function routesCommand(program: Command, run: Run): void {
  const routes = program.command('routes').description('the upstreams behind the models')

  routes
    .command('list')
    .description('every route of the active models in the order it is tried, and how it did in the last 24 hours')
    .action(
      run(async ({ admin, out, json }) => {
        const list = await admin.get<List<RouteShape>>('/routes')
        if (json) printJson(out, list)
        else showRoutes(out, list.data)
      }),
    )

  routes
    .command('test [model]')
    .description('send one tiny request through every route of the catalog; exits with 1 if one fails')
    .action(
      run(async ({ admin, out, json, fail }, _: object, model?: string) => {
        const tests = await testedRoutes(admin, { model })
        if (json) printJson(out, tests)
        else showTests(out, tests.data)
        if (!tests.data.every(({ ok }) => ok)) fail()
      }),
    )
}

/** Every route, page by page. */
export async function testedRoutes(
  admin: Ask,
  wanted: { readonly model?: string | undefined },
): Promise<List<RouteTestShape>> {
  const data: RouteTestShape[] = []
  for (let after: string | undefined; ; ) {
    const page = await admin.check<List<RouteTestShape>>('/routes/test', { ...wanted, after })
    data.push(...page.data)
    if (page.last_id === null) return { ...page, data }
    after = page.last_id
  }
}

function showRoutes(out: Screen, routes: readonly RouteShape[]): void {
  printTable(out, routes, {
    model: (route) => route.model,
    order: (route) => route.order,
    provider: (route) => route.provider,
    'upstream model': (route) => route.upstream_model,
    'first byte (ms)': wide((route) => route.first_byte_timeout_ms),
    'idle (ms)': wide((route) => route.idle_timeout_ms),
    asked: summed((route) => route.requests_24h),
    failed: {
      of: (route) => route.failures_24h,
      isSummed: true,
      style: (route) => (route.failures_24h > 0 ? 'bad' : undefined),
    },
  })
}

function showTests(out: Screen, tests: readonly RouteTestShape[]): void {
  printTable(out, tests, {
    model: (test) => test.model,
    provider: (test) => test.provider,
    'upstream model': (test) => test.upstream_model,
    'first token (ms)': (test) => test.first_token_ms,
    tokens: summed((test) => test.tokens),
    credits: summed((test) => test.cost),
    result: { of: (test) => test.result, style: ({ ok }) => (ok ? 'good' : 'bad') },
  })
}
