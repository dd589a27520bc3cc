import { kindOf, type PricedModel } from '../domain/catalog.ts'
import { GatewayError } from '../domain/gateway-error.ts'
import { plainLine } from '../domain/plain-text.ts'
import { formatPerToken, type Price } from '../domain/price.ts'
import { CONTRACTS, type ContractName } from '../endpoints.ts'

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

/** Every contract of words is put into the dialect of every route, so a model serves all of them or none. */
function contractsOf(model: PricedModel): ContractName[] {
  return CONTRACTS.filter((contract) => (contract === 'embeddings') === (kindOf(model) === 'embedding'))
}

export function noSuchModel(id: string): GatewayError {
  return new GatewayError(
    'model_not_found',
    `The model '${plainLine(id, 100)}' does not exist here. GET /v1/models lists those that do.`,
    { param: 'model' },
  )
}

/** Credits for one token, one request and one image, under OpenRouter's names; what has no price of its own is left out. */
export function pricing({ inputPico, outputPico, cachedInputPico, cacheWritePico, requestPico, imagePico }: Price) {
  return {
    prompt: formatPerToken(inputPico),
    completion: formatPerToken(outputPico),
    input_cache_read: formatPerToken(cachedInputPico),
    ...(cacheWritePico !== inputPico && { input_cache_write: formatPerToken(cacheWritePico) }),
    ...(requestPico > 0n && { request: formatPerToken(requestPico) }),
    ...(imagePico > 0n && { image: formatPerToken(imagePico) }),
  }
}
