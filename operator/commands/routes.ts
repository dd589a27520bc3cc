import type { Command } from 'commander'
import { parseCatalog } from '../../catalog/parse-catalog.ts'
import { secretName } from '../../layers/gateway/contract.ts'
import { openCatalog } from '../../layers/gateway/domain/catalog.ts'
import { UpstreamFailure } from '../../layers/gateway/domain/upstream-failure.ts'
import { fetchSecret } from '../../layers/gateway/providers/api-keys/fetch-secret.ts'
import { type KeySources, openProvider } from '../../layers/gateway/providers/open-provider.ts'
import { readStoredCatalog } from '../../layers/gateway/store/catalog/read-stored-catalog.ts'
import { CliError } from '../cli-error.ts'
import type { Connection } from '../connect.ts'
import { localKeys } from '../local-keys.ts'
import { printJson, printTable } from '../output.ts'
import type { Run } from '../run.ts'
import { type RouteTest, testRoute } from '../test-route.ts'

export function routesCommand(program: Command, run: Run): void {
  program
    .command('routes')
    .description('the upstreams behind the models')
    .command('test [model]')
    .description('send one tiny request through every route of the catalog; exits with 1 if one fails')
    .action(
      run(async ({ tables, out, json, fail, ...connection }, _: object, wanted?: string) => {
        const stored = await readStoredCatalog(tables)()
        if (!stored) throw new CliError("There is no catalog yet. Put one in force with 'waybill catalog push FILE'.")
        const parsed = parseCatalog(stored.data)
        if ('faults' in parsed) throw new CliError(`The catalog in force is not valid: ${parsed.faults[0]}`)
        const catalog = openCatalog(parsed.catalog, stored.version)
        const models = [...catalog.models.values()].filter(({ id }) => wanted === undefined || id === wanted)
        if (models.length === 0) throw new CliError(`The catalog has no active model${wanted ? ` '${wanted}'` : ''}.`)
        const open = openProvider(keysOf(connection))
        const tests: RouteTest[] = []
        for (const model of models) {
          for (const route of model.routes) tests.push(await testRoute(open, catalog, model, route))
        }
        if (json) printJson(out, tests)
        else show(out, tests)
        if (!tests.every(({ ok }) => ok)) fail()
      }),
    )
}

function keysOf({ stage, variables }: Pick<Connection, 'stage' | 'variables'>): KeySources {
  if (variables) return localKeys(variables)
  return {
    env: (name) => {
      throw new UpstreamFailure('credential', `env:${name} is for 'npm start'; a stage has its keys in secret:NAME.`)
    },
    secret: (name) => fetchSecret(secretName(stage, name)),
  }
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
