import type { Command } from 'commander'
import { printJson, printTable } from '../output.ts'
import type { Run } from '../run.ts'
import type { RouteTest } from '../test-route.ts'
import { testRoutes } from '../test-routes.ts'

export function routesCommand(program: Command, run: Run): void {
  program
    .command('routes')
    .description('the upstreams behind the models')
    .command('test [model]')
    .description('send one tiny request through every route of the catalog; exits with 1 if one fails')
    .action(
      run(async ({ tables, out, json, fail, ...connection }, _: object, wanted?: string) => {
        const tests = await testRoutes({ tables, ...connection }, { model: wanted })
        if (json) printJson(out, tests)
        else show(out, tests)
        if (!tests.every(({ ok }) => ok)) fail()
      }),
    )
}

function show(out: Console, tests: readonly RouteTest[]): void {
  printTable(
    out,
    ['model', 'provider', 'upstream model', 'first token (ms)', 'tokens', 'credits', 'result'],
    tests.map((test) => [
      test.model,
      test.provider,
      test.upstreamModel,
      test.firstTokenMs,
      test.tokens,
      test.cost,
      test.result,
    ]),
  )
}
