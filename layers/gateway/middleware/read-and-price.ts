import { requestContractOf } from '../contracts/contracts.ts'
import { modelsFor } from '../domain/allowed-models.ts'
import type { Catalog, PricedModel } from '../domain/catalog.ts'
import { badRequest, GatewayError } from '../domain/gateway-error.ts'
import { type PricedRequest, priceRequest } from '../domain/priced-request.ts'
import { pinnableRoutes } from '../domain/route-order.ts'
import type { LoadCatalog } from '../flow/routing/catalog-cache.ts'
import type { IdentifiedRequest, PricedChat } from '../request.ts'
import { noSuchModel } from '../wire/models.ts'
import { NOT_JSON, type RawBody, readJsonBody, textOf } from '../wire/read-body.ts'
import { type Gate, type GatewayEvent, headerOf } from './gate.ts'
import { requireKind } from './require-kind.ts'

/** Reads the request and prices its worst case. A refusal found here waits until the call has spent its token. */
export function readAndPrice(loadCatalog: LoadCatalog, headerPrefix: string): Gate<IdentifiedRequest, PricedChat> {
  const routeHeader = `${headerPrefix}Route`.toLowerCase()
  return {
    pass: (request, event) => {
      if (request.refusal) return Object.assign(request, { refusal: request.refusal })
      const catalog = loadCatalog()
      if (catalog instanceof Promise) return catalog.then((loaded) => priceBy(loaded, request, event))
      return priceBy(catalog, request, event)
    },
  }

  function priceBy(
    catalog: Catalog,
    request: IdentifiedRequest,
    event: GatewayEvent,
  ): PricedChat | Promise<PricedChat> {
    try {
      return Object.assign(request, { priced: priceOf(catalog, request, event), refusal: undefined })
    } catch (error) {
      if (!(error instanceof GatewayError)) throw error
      if (error.message !== NOT_JSON) return Object.assign(request, { refusal: error })
      return whyNotJson(rawBody(event)).then((refusal) => Object.assign(request, { refusal }))
    }
  }

  function priceOf(catalog: Catalog, { endpoint, credential }: IdentifiedRequest, event: GatewayEvent): PricedRequest {
    const { readRequest, readCount = readRequest } = requestContractOf(endpoint)
    const body = readJsonBody(rawBody(event), credential.key.id)
    const chat = (endpoint.countsOnly ? readCount : readRequest)(body)
    const model = catalog.models.get(chat.model)
    if (!model) throw noSuchModel(chat.model, modelsFor(credential.key, catalog))
    requireKind(chat, model)
    const priced = priceRequest(chat, model, catalog, pinnedProviders(headerOf(event, routeHeader), model))
    return endpoint.countsOnly || endpoint.quotes ? { ...priced, isFree: true } : priced
  }
}

export async function whyNotJson(raw: RawBody): Promise<GatewayError> {
  const { jsonFault } = await import('#advice')
  return badRequest('invalid_json', `${NOT_JSON.slice(0, -1)}: ${jsonFault(textOf(raw).text)}.`)
}

/** `X-Svc-Route: provider[,provider]`: only these providers, in this order. */
function pinnedProviders(header: string | undefined, model: PricedModel): readonly string[] | undefined {
  if (header === undefined) return undefined
  const wanted = [...new Set(header.split(',').map((name) => name.trim()))]
  const allowed = [...new Set(pinnableRoutes(model.routes, model).map(({ provider }) => provider))]
  const refused = wanted.find((name) => !allowed.includes(name))
  if (refused === undefined) return wanted
  const isDear = model.routes.some(({ provider }) => provider === refused)
  const why = isDear ? `'${refused}' costs more than the price of '${model.id}' and cannot be chosen. ` : ''
  const choices = allowed.length > 0 ? allowed.join(', ') : 'none'
  throw badRequest('invalid_route', `${why}The route header must be a list of providers of '${model.id}': ${choices}.`)
}

export function rawBody(event: GatewayEvent): RawBody {
  return {
    body: event.body,
    isBase64Encoded: event.isBase64Encoded,
    contentType: headerOf(event, 'content-type'),
    contentEncoding: headerOf(event, 'content-encoding'),
  }
}
