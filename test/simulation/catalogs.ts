import { requireCatalog } from '../../catalog/parse-catalog.ts'
import type { CatalogData } from '../../layers/gateway/domain/catalog.ts'
import type { PriceStrings } from '../../layers/gateway/domain/price.ts'
import type { CatalogKind } from './history.ts'
import { DIMENSIONS } from './scripted-upstream.ts'

const provider = { type: 'openai', baseUrl: 'https://upstream.example/v1' }
/** Half of the price or less, by one tier where the price has two; and fifty times as much. */
const COST = { input: '0.5', output: '1', tiers: [{ above: 100, input: '1.5', output: '3' }] }
const DEAR = { input: '50', output: '100' }
const to = (name: string, priority = 0, cost: PriceStrings = COST) => ({
  provider: name,
  model: name,
  priority,
  firstByteTimeoutMs: 60_000,
  cost,
})

const ROUTES: Record<CatalogKind, ReturnType<typeof to>[]> = {
  'one route': [to('first')],
  'several routes': [to('first'), to('narrow'), to('second', 1)],
  narrow: [to('narrow')],
  'dearer route': [to('first'), to('dearer', 1, DEAR)],
}

export const CATALOGS = Object.fromEntries(
  Object.entries(ROUTES).map(([kind, routes]) => [kind, catalogWith(routes, kind !== 'one route')]),
) as Record<CatalogKind, CatalogData>

/** Prices that the ledger knows by heart, whichever model answers. A longer prompt may be the cheaper one. */
function catalogWith(routes: ReturnType<typeof to>[], hasFallback: boolean): CatalogData {
  return requireCatalog({
    providers: { first: provider, second: provider, narrow: provider, dear: provider, dearer: provider },
    models: [
      {
        id: 'simulated',
        contextLength: 10_000,
        maxOutputTokens: 200,
        price: {
          input: '1',
          output: '2',
          tiers: [
            { above: 100, input: '2', output: '4' },
            { above: 150, input: '1.5', output: '3' },
          ],
        },
        routes,
        ...(hasFallback && { fallback: ['dear'] }),
      },
      {
        id: 'embedding',
        kind: 'embedding',
        contextLength: 10_000,
        dimensions: DIMENSIONS,
        price: { input: '1' },
        routes: routes.map(({ cost, ...route }) => ({ ...route, cost: { input: cost.input } })),
      },
      {
        id: 'dear',
        contextLength: 50_000,
        maxOutputTokens: 100,
        price: { input: '60', output: '120' },
        routes: [to('dear', 0, DEAR)],
      },
    ],
  })
}
