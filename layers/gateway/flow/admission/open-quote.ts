import { loadContract } from '../../contracts/contracts.ts'
import { readQuote } from '../../wire/requests/read-quote.ts'
import type { GatewayEvent } from '../event.ts'
import type { IdentifiedRequest } from '../request.ts'
import { readJson } from './read-and-price.ts'

/**
 * Puts the request that is quoted in the place of the quote, with its contract and its scope, so that it is read, checked
 * and refused as at its own endpoint.
 */
export async function openQuote(request: IdentifiedRequest, event: GatewayEvent): Promise<void> {
  const { endpoint, body } = await readJson(event, readQuote)
  const { contract, scope } = endpoint
  request.endpoint = { ...request.endpoint, ...(contract && { contract }), ...(scope && { scope }) }
  event.body = body
  event.isBase64Encoded = false
  await loadContract(request.endpoint)
}
