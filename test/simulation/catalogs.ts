import { requireCatalog } from '../../layers/catalog/parse-catalog.ts'
import type { CatalogData } from '../../layers/gateway/domain/routing/catalog.ts'
import type { CatalogKind } from './history.ts'
import { DIMENSIONS } from './scripted-upstream.ts'

type Prices = { readonly input: number; readonly output: number; readonly tiers?: readonly Tier[] }
type Tier = { readonly above: number; readonly input: number; readonly output: number }

/** Pushes raise and lower all prices and costs by these. */
export const FACTORS = [1, 2, 3] as const
export type Factor = (typeof FACTORS)[number]

const provider = { type: 'openai', baseUrl: 'https://upstream.example/v1' }
/** Half of the price or less, by one tier where the price has two; and fifty times as much. */
const COST = { input: 0.5, output: 1, tiers: [{ above: 100, input: 1.5, output: 3 }] }
const DEAR = { input: 50, output: 100 }
const to = (name: string, priority = 0, cost: Prices = COST) => ({
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

const CATALOGS = new Map<string, CatalogData>()

/** Keys may have a plan by which they pay so many times the price. */
export const PLAN = { name: 'gold', factor: 2n } as const

/** The catalog with all prices so many times as high. */
export function catalogOf(kind: CatalogKind, factor: Factor): CatalogData {
  const name = `${kind} ${factor}`
  const known = CATALOGS.get(name) ?? catalogWith(ROUTES[kind], kind !== 'one route', factor)
  CATALOGS.set(name, known)
  return known
}

function priceOf({ input, output, tiers = [] }: Prices, factor: Factor) {
  const times = (price: { readonly input: number; readonly output: number }) => ({
    input: String(price.input * factor),
    output: String(price.output * factor),
  })
  const higher = tiers.map((tier) => ({ above: tier.above, ...times(tier) }))
  return { ...times({ input, output }), ...(higher.length > 0 && { tiers: higher }) }
}

const PRICE: Prices = {
  input: 1,
  output: 2,
  tiers: [
    { above: 100, input: 2, output: 4 },
    { above: 150, input: 1.5, output: 3 },
  ],
}

/** Prices that the ledger knows by heart, whichever model answers. A longer prompt may be the cheaper one. */
function catalogWith(routes: ReturnType<typeof to>[], hasFallback: boolean, factor: Factor): CatalogData {
  const routesOf = (some: typeof routes) =>
    some.map(({ cost, ...route }) => ({ ...route, cost: priceOf(cost, factor) }))
  const file = requireCatalog({
    providers: { first: provider, second: provider, narrow: provider, dear: provider, dearer: provider },
    models: [
      {
        id: 'simulated',
        contextLength: 10_000,
        maxOutputTokens: 200,
        price: priceOf(PRICE, factor),
        routes: routesOf(routes),
        ...(hasFallback && { fallback: ['dear'] }),
      },
      {
        id: 'embedding',
        kind: 'embedding',
        contextLength: 10_000,
        dimensions: DIMENSIONS,
        price: { input: String(factor) },
        routes: routesOf(routes).map(({ cost, ...route }) => ({ ...route, cost: { input: cost.input } })),
      },
      {
        id: 'dear',
        contextLength: 50_000,
        maxOutputTokens: 100,
        price: priceOf({ input: 60, output: 120 }, factor),
        routes: routesOf([to('dear', 0, DEAR)]),
      },
    ],
  })
  return { ...file, plans: { [PLAN.name]: { factor: String(PLAN.factor) } } }
}
