import type { PricedModel } from '../domain/catalog.ts'
import { formatPerToken } from '../domain/price.ts'

export function modelList(models: Iterable<PricedModel>) {
  return { object: 'list', data: Array.from(models, modelEntry) }
}

export function modelEntry(model: PricedModel) {
  const { inputPico, outputPico, cachedInputPico } = model.tokenPrice
  return {
    id: model.id,
    object: 'model',
    created: model.created,
    owned_by: model.ownedBy,
    name: model.name,
    context_length: model.contextLength,
    max_output_tokens: model.maxOutputTokens,
    pricing: {
      prompt: formatPerToken(inputPico),
      completion: formatPerToken(outputPico),
      input_cache_read: formatPerToken(cachedInputPico),
    },
  }
}
