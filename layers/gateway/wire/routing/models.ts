import { GatewayError } from '../../domain/basics/gateway-error.ts'
import { plainLine } from '../../domain/basics/plain-text.ts'
import { formatPerToken, type Price, type RangePrice } from '../../domain/money/price.ts'
import { PRICE_ROWS, type PriceRow } from '../../domain/money/price-kinds.ts'
import { kindOf, type PricedModel } from '../../domain/routing/catalog.ts'
import { CONTRACTS } from '../../endpoints.ts'
import { closest } from '../basics/closest.ts'

export function modelList(models: Iterable<PricedModel>) {
  return { object: 'list', data: Array.from(models, modelEntry) }
}

export function modelEntry(model: PricedModel) {
  return {
    id: model.id,
    object: 'model',
    created: model.created,
    owned_by: model.ownedBy,
    name: model.name,
    kind: kindOf(model),
    // Every contract of text is translated to the dialect of every route, so a model serves all of these or none.
    contracts: CONTRACTS.filter((contract) => (contract === 'embeddings') === (kindOf(model) === 'embedding')),
    context_length: model.contextLength,
    max_output_tokens: model.maxOutputTokens,
    ...(model.dimensions !== undefined && { dimensions: model.dimensions }),
    pricing: pricing(model.tokenPrice),
  }
}

/** `known` are the models that the key may use. */
export function noSuchModel(id: string, known: readonly PricedModel[]): GatewayError {
  const meant = meantModel(
    id,
    known.map((model) => model.id),
  )
  const advice = meant ? ` Did you mean '${meant}'?` : ''
  return new GatewayError(
    'model_not_found',
    `The model '${plainLine(id, 100)}' does not exist here.${advice} GET /v1/models lists those that do.`,
    { param: 'model' },
  )
}

export function modelNotAllowed(id: string): GatewayError {
  return new GatewayError(
    'model_not_allowed',
    `This key may not use the model '${id}'. GET /v1/models lists those that it may use; the gateway's operator can allow others.`,
    { param: 'model' },
  )
}

/** Other gateways and providers name a model `openai/gpt-4o`, `gpt-4o-2024-08-06` or `gpt-4o:free`. */
function meantModel(id: string, known: readonly string[]): string | undefined {
  const bare = id.slice(id.lastIndexOf('/') + 1, 200).replace(/[-@:](?:latest|free|\d{4}-?\d\d-?\d\d)$/, '')
  return closest(id, known) ?? closest(bare, known) ?? known.find((each) => bare !== '' && each.endsWith(`/${bare}`))
}

/** Credits under OpenRouter's names. Parts without a price of their own are left out; a tier replaces the base. */
export function pricing(price: Price) {
  return {
    ...told(price, 'token'),
    ...told(price, 'piece'),
    ...(price.tiers.length > 0 && { tiers: price.tiers.map((tier) => told(tier, 'token')) }),
  }
}

function told(price: RangePrice, unit: PriceRow['unit']) {
  const parts = PRICE_ROWS.filter((row) => row.unit === unit && isTold(row, price))
  return {
    ...(unit === 'token' && price.above > 0 && { above: price.above }),
    ...Object.fromEntries(parts.map(({ pico, api }) => [api, formatPerToken(price[pico])])),
  }
}

/** Writes are told if one of them has a price of its own, and a life in the cache if it costs more than the default one. */
function isTold({ pico: name, unit, of, times }: PriceRow, price: RangePrice): boolean {
  const pico = price[name]
  if (unit === 'piece') return pico > 0n
  if (!times) return true
  const { heldWritePico, cacheWritePico } = price
  return of === 'cacheWrite' ? pico > cacheWritePico && pico <= heldWritePico : heldWritePico > 0n
}
