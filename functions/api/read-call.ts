import { loadContract } from '../../layers/gateway/contracts/contracts.ts'
import { readAndPrice, readJson } from '../../layers/gateway/flow/admission/read-and-price.ts'
import type { GatewayEvent, IdentifiedRequest } from '../../layers/gateway/flow/request.ts'
import { authorize } from '../../layers/gateway/middleware/identify.ts'
import { readKey } from '../../layers/gateway/store/keys/read-key.ts'
import { noEndpoint } from '../../layers/gateway/wire/requests/find-route.ts'
import { readQuote } from '../../layers/gateway/wire/requests/read-quote.ts'
import type { Instance } from '../instance.ts'

/**
 * Reads a call before it is admitted. A quote is read and priced as the request that it is about, and its key is checked
 * again, now for the scope of that endpoint. Throws the refusal of a call that is for no endpoint.
 */
export function readCall({ tables, loadCatalog, config, cache }: Instance) {
  const requireAccess = authorize({ readKey: readKey(tables), cache })
  const pricing = { loadCatalog, headerPrefix: config.headerPrefix }
  return async (request: IdentifiedRequest, event: GatewayEvent): Promise<void> => {
    if (request.isNowhere) throw await noEndpoint(event.requestContext.http.method, event.rawPath)
    if (!request.endpoint.quotes) return
    await openQuote(request, event)
    await requireAccess(request, event)
    await readAndPrice(pricing, request, event)
  }
}

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
