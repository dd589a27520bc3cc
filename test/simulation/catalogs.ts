import { parseCatalog } from '../../catalog/parse-catalog.ts'
import type { CatalogData } from '../../layers/gateway/domain/catalog.ts'
import type { CatalogKind } from './history.ts'
import { DIMENSIONS } from './scripted-upstream.ts'

const provider = { type: 'openai', baseUrl: 'https://upstream.example/v1' }
/** Providers bill by one tier where the price has two. */
const COST = { input: '0.5', output: '1', tiers: [{ above: 100, input: '1.5', output: '3' }] }
const to = (name: string, priority = 0) => ({ provider: name, model: name, priority, firstByteTimeoutMs: 60_000 })

const ROUTES: Record<CatalogKind, object[]> = {
  'one route': [to('first')],
  'several routes': [to('first'), to('narrow'), to('second', 1)],
  narrow: [to('narrow')],
}

export const CATALOGS = Object.fromEntries(
  Object.entries(ROUTES).map(([kind, routes]) => [kind, catalogWith(routes, kind !== 'one route')]),
) as Record<CatalogKind, CatalogData>

/** Prices that the ledger knows by heart, whichever model answers. A longer prompt may be the cheaper one. */
function catalogWith(routes: object[], hasFallback: boolean): CatalogData {
  const parsed = parseCatalog({
    providers: { first: provider, second: provider, narrow: provider, dear: provider },
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
        routes: routes.map((route) => ({ ...route, cost: COST })),
        ...(hasFallback && { fallback: ['dear'] }),
      },
      {
        id: 'embedding',
        kind: 'embedding',
        contextLength: 10_000,
        dimensions: DIMENSIONS,
        price: { input: '1' },
        routes: routes.map((route) => ({ ...route, cost: { input: '0.5' } })),
      },
      {
        id: 'dear',
        contextLength: 50_000,
        maxOutputTokens: 100,
        price: { input: '60', output: '120' },
        routes: [{ ...to('dear'), cost: { input: '50', output: '100' } }],
      },
    ],
  })
  if ('faults' in parsed) throw new Error(parsed.faults.join('; '))
  return parsed.catalog
}
