import type { PricedModel } from '../domain/catalog.ts'
import { pricing } from './pricing.ts'

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
    context_length: model.contextLength,
    max_output_tokens: model.maxOutputTokens,
    pricing: pricing(model.tokenPrice),
  }
}
