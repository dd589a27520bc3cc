import { badRequest, type GatewayError } from '../../domain/basics/gateway-error.ts'
import type { PricedRequest } from '../../domain/money/priced-request.ts'
import { sealMarkOf } from '../chat/sealed-content.ts'
import { sealsIn } from '../chat/unseal.ts'

/** The refusal of a request with a compaction item if no route to the model can read it. */
export function noReader({ chat, model, catalog }: PricedRequest): GatewayError {
  const { compactions } = sealsIn(chat)
  const sealer = [...catalog.providers.keys()].find((provider) => compactions.includes(sealMarkOf(provider)))
  const who = sealer === undefined ? 'a provider of Responses' : `the provider '${sealer}'`
  const message = `'input' has a compaction item for ${who}, which is not available for the model '${model.id}'. Send the messages that the item replaced, or choose another model.`
  return badRequest('invalid_value', message, 'input')
}
