import type { CatalogModel } from '../../layers/gateway/domain/routing/catalog.ts'
import type { Variant } from './variants.ts'

/** Gateways that do not sell by the prices and bounds of their catalog. */
export const SELLING_VARIANTS: readonly Variant[] = [
  selling('every request is charged at its lowest tier', ({ price, ...model }) => ({
    ...model,
    price: { ...price, tiers: [] },
  })),
  selling('the cost of a route is counted at its lowest tier', ({ routes, ...model }) => ({
    ...model,
    routes: routes.map(({ cost, ...route }) => ({ ...route, ...(cost && { cost: { ...cost, tiers: [] } }) })),
  })),
  selling('a prompt is held for less than its bound', (model) => ({ ...model, contextLength: 50 })),
]

function selling(name: string, change: (model: CatalogModel) => CatalogModel): Variant {
  return { name, catalog: ({ providers, models }) => ({ providers, models: models.map(change) }) }
}
