import { authorize } from '../../layers/gateway/middleware/authorize.ts'
import type { Gate, GatewayEvent } from '../../layers/gateway/middleware/gate.ts'
import { openQuote } from '../../layers/gateway/middleware/open-quote.ts'
import { readAndPrice } from '../../layers/gateway/middleware/read-and-price.ts'
import type { IdentifiedRequest } from '../../layers/gateway/request.ts'
import { readKey } from '../../layers/gateway/store/keys/read-key.ts'
import type { Instance } from '../instance.ts'

/** For a quote, chat's gates before admission. The key is checked again, now for the scope of the quoted endpoint. */
export function priceQuote({
  tables,
  loadCatalog,
  config,
  cache,
}: Instance): Gate<IdentifiedRequest, IdentifiedRequest> {
  const opened = openQuote()
  const authorized = authorize({ readKey: readKey(tables), cache })
  const priced = readAndPrice(loadCatalog, config.headerPrefix)
  return { pass: (request, event) => (request.endpoint.quotes ? price(request, event) : request) }

  async function price(request: IdentifiedRequest, event: GatewayEvent): Promise<IdentifiedRequest> {
    return priced.pass(await authorized.pass(await opened.pass(request, event), event), event)
  }
}
