import { kindOf, type PricedModel } from '../domain/catalog.ts'
import { GatewayError } from '../domain/gateway-error.ts'
import { plainLine } from '../domain/plain-text.ts'
import { formatPerToken, type Price, type RangePrice } from '../domain/price.ts'
import { CONTRACTS, type ContractName } from '../endpoints.ts'
import { closest } from './closest.ts'

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
    contracts: contractsOf(model),
    context_length: model.contextLength,
    max_output_tokens: model.maxOutputTokens,
    ...(model.dimensions !== undefined && { dimensions: model.dimensions }),
    pricing: pricing(model.tokenPrice),
  }
}

/** Every contract of text is translated to the dialect of every route, so a model serves all of these contracts or none. */
function contractsOf(model: PricedModel): ContractName[] {
  return CONTRACTS.filter((contract) => (contract === 'embeddings') === (kindOf(model) === 'embedding'))
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

/** For names that other gateways and providers give to a model: `openai/gpt-4o`, `gpt-4o-2024-08-06`, `gpt-4o:free`. */
function meantModel(id: string, known: readonly string[]): string | undefined {
  const bare = id.slice(id.lastIndexOf('/') + 1, MOST_NAME_CHARS).replace(/[-@:](?:latest|free|\d{4}-?\d\d-?\d\d)$/, '')
  return closest(id, known) ?? closest(bare, known) ?? known.find((each) => bare !== '' && each.endsWith(`/${bare}`))
}

const MOST_NAME_CHARS = 200

/**
 * Credits for one token, one request and one image, under OpenRouter's names; parts without a price of their own are
 * left out. A tier replaces the base price for prompts of more tokens than its `above`.
 */
export function pricing(price: Price) {
  const { requestPico, imagePico, tiers } = price
  return {
    ...tokenPricing(price),
    ...(requestPico > 0n && { request: formatPerToken(requestPico) }),
    ...(imagePico > 0n && { image: formatPerToken(imagePico) }),
    ...(tiers.length > 0 && { tiers: tiers.map(tokenPricing) }),
  }
}

function tokenPricing({ above, ...price }: RangePrice) {
  const { inputPico, cacheWritePico, cacheWrite1hPico, heldWritePico } = price
  return {
    ...(above > 0 && { above }),
    prompt: formatPerToken(inputPico),
    completion: formatPerToken(price.outputPico),
    input_cache_read: formatPerToken(price.cachedInputPico),
    ...(heldWritePico > 0n && { input_cache_write: formatPerToken(cacheWritePico) }),
    ...(heldWritePico > cacheWritePico && { input_cache_write_1h: formatPerToken(cacheWrite1hPico) }),
  }
}
