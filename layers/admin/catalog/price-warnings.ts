import { planned } from '../../gateway/domain/money/plan.ts'
import {
  formatPerMillion,
  formatPerToken,
  isFree,
  type Price,
  type PriceStrings,
  parsePrice,
  priceAt,
} from '../../gateway/domain/money/price.ts'
import { PRICE_ROWS, type PriceKind, type PriceRow } from '../../gateway/domain/money/price-kinds.ts'
import type { CatalogData, CatalogModel, UpstreamRoute } from '../../gateway/domain/routing/catalog.ts'

const NO_CACHE_WRITE = 'without a cacheWrite, cache writes are charged at 1.25 × input, and at 2 × input for an hour'

/** Prices below the cost of a route that may answer at them, and what else a price means that its author may not expect. */
export function priceWarnings({ models, providers }: CatalogData): string[] {
  return models.flatMap((model) => {
    const { unused, routes } = routesOf(model, models)
    const mayWrite = routes.some(({ route: { provider, cost } }) => {
      const type = providers[provider]?.type
      return type === 'anthropic' || type === 'bedrock' || (cost && names(cost, 'cacheWrite'))
    })
    const isUnpriced = model.kind !== 'embedding' && !isFreeOfCharge(model) && !names(model.price, 'cacheWrite')
    const warnings = [
      ...routes.flatMap((placed) => belowCost(model.price, placed)),
      ...(mayWrite && isUnpriced ? [NO_CACHE_WRITE] : []),
      ...unused.map(
        ({ id }) => `its fallback '${id}' is not used, because this model is free: name it in paidFallback`,
      ),
    ]
    return warnings.map((warning) => `model '${model.id}': ${warning}`)
  })
}

function routesOf(model: CatalogModel, models: readonly CatalogModel[]) {
  const fallbacks = (model.fallback ?? []).flatMap((id) => models.filter((other) => other.id === id))
  const used = fallbacks.filter((other) => mayFallBack(model, other))
  const own = model.routes.map((route) => withPlace(route))
  const others = used.flatMap(({ id, routes }) => routes.map((route) => withPlace(route, ` of its fallback '${id}'`)))
  return { unused: fallbacks.filter((other) => !used.includes(other)), routes: [...own, ...others] }
}

function withPlace(route: UpstreamRoute, where = '') {
  return { route, place: `${route.provider}/${route.model}${where}` }
}

/** Prices of plans below the cost of a route: each plan's own, and the catalog's times the smallest factor. */
export function planWarnings({ models, plans = {} }: CatalogData): string[] {
  const all = Object.entries(plans).sort(([, a], [, b]) => Number(a.factor) - Number(b.factor))
  return models.flatMap((model) => {
    const [own, scaled] = [true, false].map((isOwn) => all.filter(([, { prices }]) => !!prices?.[model.id] === isOwn))
    return [...(own ?? []), ...(scaled ?? []).slice(0, 1)].flatMap(([name, plan]) => {
      const { price, tokenPrice, factor } = planned({ ...model, tokenPrice: parsePrice(model.price) }, plan)
      const { routes } = routesOf({ ...model, price }, models)
      const where = `model '${model.id}': in the plan '${name}'${factor ? ` (× ${factor})` : ''}`
      return routes.flatMap((placed) => belowCost(price, placed, tokenPrice)).map((warning) => `${where}, ${warning}`)
    })
  })
}

const isFreeOfCharge = ({ price }: CatalogModel) => isFree(parsePrice(price))

/** The gateway decides it in the same way for each route. */
function mayFallBack(model: CatalogModel, { id, price, routes }: CatalogModel): boolean {
  if (!isFreeOfCharge(model) || model.paidFallback?.includes(id)) return true
  return routes.every(({ cost = price }) => isFree(parsePrice(cost)))
}

type PlacedRoute = ReturnType<typeof withPlace>

/** Tokens are compared in every range of prompt lengths in which price and cost are constant. */
function belowCost(price: PriceStrings, { route: { cost }, place }: PlacedRoute, ours = parsePrice(price)): string[] {
  if (!cost) return []
  const theirs = parsePrice(cost)
  // A part that neither side names is billed as another part, which is compared itself.
  const isNamed = (kind: PriceKind) => [price, cost].some((side) => names(side, kind))
  const compare = (unit: PriceRow['unit'], { above, upTo }: PromptRange) => {
    const [asked, billed] = [priceAt(ours, above + 1), priceAt(theirs, above + 1)]
    const format = unit === 'token' ? formatPerMillion : formatPerToken
    return PRICE_ROWS.flatMap((row) => {
      const { pico } = row
      if (row.unit !== unit || !isNamed(row.kind) || asked[pico] >= billed[pico]) return []
      const part = `${row.kind} ${format(asked[pico])}${promptsText(above, upTo)}`
      return [`${part} is below what route ${place} costs (${format(billed[pico])})`]
    })
  }
  const tokens = rangesOf(ours, theirs).flatMap((range) => compare('token', range))
  return [...tokens, ...compare('piece', { above: 0, upTo: undefined })]
}

function names(side: PriceStrings, part: PriceKind): boolean {
  return part in side || (side.tiers ?? []).some((tier) => part in tier)
}

type PromptRange = { readonly above: number; readonly upTo: number | undefined }

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
