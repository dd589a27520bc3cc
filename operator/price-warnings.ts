import type { CatalogData, CatalogModel, UpstreamRoute } from '../layers/gateway/domain/catalog.ts'
import {
  formatPerMillion,
  formatPerToken,
  type Price,
  type PriceStrings,
  parsePrice,
} from '../layers/gateway/domain/price.ts'

type Part = {
  readonly name: keyof PriceStrings
  readonly of: (price: Price) => bigint
  readonly format: (pico: bigint) => string
}

const PARTS: readonly Part[] = [
  { name: 'input', of: ({ inputPico }) => inputPico, format: formatPerMillion },
  { name: 'output', of: ({ outputPico }) => outputPico, format: formatPerMillion },
  { name: 'cachedInput', of: ({ cachedInputPico }) => cachedInputPico, format: formatPerMillion },
  { name: 'cacheWrite', of: ({ cacheWritePico }) => cacheWritePico, format: formatPerMillion },
  { name: 'request', of: ({ requestPico }) => requestPico, format: formatPerToken },
  { name: 'image', of: ({ imagePico }) => imagePico, format: formatPerToken },
]

/** Every price of a catalog that is below what a route which may answer at that price costs us. */
export function priceWarnings({ models }: CatalogData): string[] {
  return models.flatMap((model, i) => {
    const about = `models[${i}] '${model.id}'`
    return routesAt(model, models).flatMap(({ route, place }) =>
      partsBelow(model.price, route.cost).map(
        ({ name, price, cost }) => `${about}: ${name} ${price} is below what route ${place} costs (${cost})`,
      ),
    )
  })
}

type PlacedRoute = { readonly route: UpstreamRoute; readonly place: string }

/** A model's own routes, and those of its fallbacks, which answer at its price. */
function routesAt(model: CatalogModel, models: readonly CatalogModel[]): PlacedRoute[] {
  const fallbacks = (model.fallback ?? []).flatMap((id) => models.filter((other) => other.id === id))
  const nameOf = ({ provider, model: upstream }: UpstreamRoute) => `${provider}/${upstream}`
  return [
    ...model.routes.map((route) => ({ route, place: nameOf(route) })),
    ...fallbacks.flatMap(({ id, routes }) =>
      routes.map((route) => ({ route, place: `${nameOf(route)} of its fallback '${id}'` })),
    ),
  ]
}

function partsBelow(price: PriceStrings, cost: PriceStrings | undefined) {
  if (!cost) return []
  const [ours, theirs] = [parsePrice(price), parsePrice(cost)]
  // A part that neither side names is billed as another part, which is compared itself.
  return PARTS.filter(({ name, of }) => (name in price || name in cost) && of(ours) < of(theirs)).map(
    ({ name, of, format }) => ({ name, price: format(of(ours)), cost: format(of(theirs)) }),
  )
}
