import { parseCatalog } from '../../catalog/parse-catalog.ts'
import { AdminError } from '../../layers/admin/api/admin-error.ts'
import type { RouteTest, WantedRoutes } from '../../layers/admin/api/call.ts'
import { openCatalog } from '../../layers/gateway/domain/catalog.ts'
import { UpstreamFailure } from '../../layers/gateway/domain/upstream-failure.ts'
import { type KeySources, openProvider } from '../../layers/gateway/providers/open-provider.ts'
import { readStoredCatalog } from '../../layers/gateway/store/catalog/read-catalog.ts'
import type { Connection } from '../connect/connect.ts'
import { localKeys } from '../connect/local-keys.ts'
import { readStageKey } from './stage-keys.ts'
import { testRoute } from './test-route.ts'

/** Tests every route of the catalog in force, or those of one model or provider, one after the other. Throws an AdminError. */
export async function testRoutes(
  { tables, ...connection }: Pick<Connection, 'tables' | 'stage' | 'variables'>,
  { model: wanted, provider }: WantedRoutes,
): Promise<RouteTest[]> {
  const stored = await readStoredCatalog(tables)()
  if (!stored) throw new AdminError('conflict', 'There is no catalog yet. Put one in force first.')
  const parsed = parseCatalog(stored.data)
  if ('faults' in parsed) throw new AdminError('conflict', `The catalog in force is not valid: ${parsed.faults[0]}`)
  const catalog = openCatalog(parsed.catalog, stored.version)
  const models = [...catalog.models.values()].filter(({ id }) => wanted === undefined || id === wanted)
  if (models.length === 0)
    throw new AdminError('conflict', `The catalog has no active model${wanted ? ` '${wanted}'` : ''}.`)
  const chosen = models.flatMap((model) =>
    model.routes
      .filter((route) => provider === undefined || route.provider === provider)
      .map((route) => ({ model, route })),
  )
  if (chosen.length === 0)
    throw new AdminError('conflict', `No active model has a route to the provider '${provider}'.`)
  const open = openProvider(keysOf({ ...connection, tables }))
  const tests: RouteTest[] = []
  for (const { model, route } of chosen) tests.push(await testRoute(open, catalog, model, route))
  return tests
}

function keysOf({ tables, stage, variables }: Pick<Connection, 'tables' | 'stage' | 'variables'>): KeySources {
  if (variables) return localKeys(variables)
  return {
    env: (name) => {
      throw new UpstreamFailure(
        'credential',
        `env:${name} is for a gateway on one machine; a stage has its keys in secret:NAME.`,
      )
    },
    secret: readStageKey(stage, tables.client),
  }
}
