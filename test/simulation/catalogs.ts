import { parseCatalog } from '../../catalog/parse-catalog.ts'
import type { CatalogData } from '../../layers/gateway/domain/catalog.ts'
import type { CatalogKind } from './history.ts'
import { DIMENSIONS } from './scripted-upstream.ts'

const provider = { type: 'openai', baseUrl: 'https://upstream.example/v1' }
const to = (name: string, priority = 0) => ({ provider: name, model: name, priority, firstByteTimeoutMs: 60_000 })

const ROUTES: Record<CatalogKind, object[]> = {
  'one route': [to('first')],
  'several routes': [to('first'), to('narrow'), to('second', 1)],
  narrow: [to('narrow')],
}

export const CATALOGS = Object.fromEntries(
  Object.entries(ROUTES).map(([kind, routes]) => [kind, catalogWith(routes, kind !== 'one route')]),
) as Record<CatalogKind, CatalogData>

/** Prices that the ledger knows by heart: 1,000 and 2,000 nanocredits a token, whichever model answers. */
function catalogWith(routes: object[], hasFallback: boolean): CatalogData {
  const parsed = parseCatalog({
    providers: { first: provider, second: provider, narrow: provider, dear: provider },
    models: [
      {
        id: 'simulated',
        contextLength: 10_000,
        maxOutputTokens: 200,
        price: { input: '1', output: '2' },
        routes,
        ...(hasFallback && { fallback: ['dear'] }),
      },
      {
        id: 'embedding',
        kind: 'embedding',
        contextLength: 10_000,
        dimensions: DIMENSIONS,
        price: { input: '1' },
        routes,
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
