import type { z } from 'zod'
import { parseStored } from '../../catalog/parse-catalog.ts'
import { type Catalog, openCatalog } from '../../gateway/domain/routing/catalog.ts'
import { openProvider } from '../../gateway/providers/open-provider.ts'
import { readStoredCatalog } from '../../gateway/store/catalog/read-catalog.ts'
import { AdminError } from '../api/admin-error.ts'
import type { Administered } from '../api/call.ts'
import type { routesTestBody } from '../api/shapes/bodies.ts'
import { testRoute } from './test-route.ts'

type WantedRoutes = z.output<typeof routesTestBody>

/** The routes of a page are tested at once, so that it takes no longer than the slowest of them. */
const PAGE = 8

export async function testRoutes({ tables, apiKeys }: Administered, wanted: WantedRoutes, first: number) {
  const stored = await readStoredCatalog(tables)()
  if (!stored) throw new AdminError('conflict', 'There is no catalog yet. Put one in force first.')
  const parsed = parseStored(stored.data)
  if ('faults' in parsed) throw new AdminError('conflict', `The catalog in force is not valid: ${parsed.faults[0]}`)
  const catalog = openCatalog(parsed.catalog, stored.version)
  const chosen = chosenOf(catalog, wanted)
  const open = openProvider(apiKeys)
  const page = chosen.slice(first, first + PAGE)
  const tests = await Promise.all(page.map(({ model, route }) => testRoute(open, catalog, model, route)))
  return { tests, hasMore: chosen.length > first + PAGE }
}

function chosenOf(catalog: Catalog, { model: wanted, provider }: WantedRoutes) {
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
  return chosen
}
