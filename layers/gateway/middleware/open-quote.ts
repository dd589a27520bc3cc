import { loadContract } from '../contracts/contracts.ts'
import { GatewayError } from '../domain/gateway-error.ts'
import type { IdentifiedRequest } from '../request.ts'
import { NOT_JSON } from '../wire/read-body.ts'
import { readQuote } from '../wire/read-quote.ts'
import type { Gate } from './gate.ts'
import { rawBody, whyNotJson } from './read-and-price.ts'

/**
 * Puts the request that is quoted in the place of the quote, with its contract and its scope, so that the next gates read,
 * check and refuse it as they do at its own endpoint.
 */
export function openQuote(): Gate<IdentifiedRequest, IdentifiedRequest> {
  return {
    pass: async (request, event) => {
      if (request.refusal) return request
      try {
        const { endpoint, body } = readQuote(rawBody(event))
        const { contract, scope } = endpoint
        request.endpoint = { ...request.endpoint, ...(contract && { contract }), ...(scope && { scope }) }
        event.body = body
        event.isBase64Encoded = false
        await loadContract(request.endpoint)
      } catch (error) {
        if (!(error instanceof GatewayError)) throw error
        request.refusal = error.message === NOT_JSON ? await whyNotJson(rawBody(event)) : error
      }
      return request
    },
  }
}
