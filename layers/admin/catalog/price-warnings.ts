import type { CatalogData, CatalogModel, UpstreamRoute } from '../../gateway/domain/catalog.ts'
import {
  formatPerMillion,
  formatPerToken,
  type Price,
  type PriceStrings,
  parsePrice,
  priceAt,
  type RangePrice,
} from '../../gateway/domain/price.ts'

type Part = {
  readonly name: keyof PriceStrings
  readonly of: (price: RangePrice) => bigint
  readonly format: (pico: bigint) => string
}

const TOKENS: readonly Part[] = [
  { name: 'input', of: ({ inputPico }) => inputPico, format: formatPerMillion },
  { name: 'output', of: ({ outputPico }) => outputPico, format: formatPerMillion },
  { name: 'cachedInput', of: ({ cachedInputPico }) => cachedInputPico, format: formatPerMillion },
  { name: 'cacheWrite', of: ({ cacheWritePico }) => cacheWritePico, format: formatPerMillion },
  { name: 'cacheWrite1h', of: ({ cacheWrite1hPico }) => cacheWrite1hPico, format: formatPerMillion },
]

const PIECES: readonly Part[] = [
  { name: 'request', of: ({ requestPico }) => requestPico, format: formatPerToken },
  { name: 'image', of: ({ imagePico }) => imagePico, format: formatPerToken },
]

/** Every price of a catalog that is below the cost of a route which may answer at that price. */
export function priceWarnings({ models }: CatalogData): string[] {
  return models.flatMap((model, i) => {
    const about = `models[${i}] '${model.id}'`
    return routesAt(model, models).flatMap(({ route, place }) =>
      partsBelow(model.price, route.cost).map(
        ({ name, price, cost, prompts }) =>
          `${about}: ${name} ${price}${prompts} is below what route ${place} costs (${cost})`,
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

/** Tokens are compared in every range of prompt lengths in which price and cost are constant. */
function partsBelow(price: PriceStrings, cost: PriceStrings | undefined) {
  if (!cost) return []
  const [ours, theirs] = [parsePrice(price), parsePrice(cost)]
  // A part that neither side names is billed as another part, which is compared itself.
  const isNamed = ({ name }: Part) => [price, cost].some((side) => names(side, name))
  const compare = (parts: readonly Part[], { above, upTo }: PromptRange) => {
    const [asked, billed] = [priceAt(ours, above + 1), priceAt(theirs, above + 1)]
    return parts
      .filter((part) => isNamed(part) && part.of(asked) < part.of(billed))
      .map(({ name, of, format }) => ({
        name,
        price: format(of(asked)),
        cost: format(of(billed)),
        prompts: promptsText(above, upTo),
      }))
  }
  const tokens = rangesOf(ours, theirs).flatMap((range) => compare(TOKENS, range))
  return [...tokens, ...compare(PIECES, { above: 0, upTo: undefined })]
}

function names(side: PriceStrings, part: keyof PriceStrings): boolean {
  return part in side || (side.tiers ?? []).some((tier) => part in tier)
}

type PromptRange = { readonly above: number; readonly upTo: number | undefined }

/** The ranges between all points at which either price changes. */
function rangesOf(...prices: readonly Price[]): PromptRange[] {
  const points = new Set([0, ...prices.flatMap(({ tiers }) => tiers.map(({ above }) => above))])
  const sorted = [...points].sort((a, b) => a - b)
  return sorted.map((above, i) => ({ above, upTo: sorted[i + 1] }))
}

function promptsText(above: number, upTo: number | undefined): string {
  const from = above > 0 ? `above ${above.toLocaleString('en-US')}` : ''
  const to = upTo === undefined ? '' : `up to ${upTo.toLocaleString('en-US')}`
  const range = [from, to].filter(Boolean).join(' and ')
  return range && ` for prompts ${range} tokens`
}
