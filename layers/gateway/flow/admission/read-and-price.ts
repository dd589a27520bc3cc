import { requestContractOf } from '../../contracts/contracts.ts'
import { modelsFor } from '../../domain/admission/access.ts'
import { badRequest, GatewayError } from '../../domain/basics/gateway-error.ts'
import { priceRequest } from '../../domain/money/priced-request.ts'
import type { PricedModel } from '../../domain/routing/catalog.ts'
import { pinnableRoutes } from '../../domain/routing/route-order.ts'
import { noEndpoint } from '../../wire/requests/find-route.ts'
import { NOT_JSON, type RawBody, readJsonBody, textOf } from '../../wire/requests/read-body.ts'
import { noSuchModel } from '../../wire/routing/models.ts'
import { type GatewayEvent, headerOf } from '../event.ts'
import type { IdentifiedRequest, PricedChat } from '../request.ts'
import type { LoadCatalog } from '../routing/catalog-cache.ts'
import { requireKind } from './require-kind.ts'

type PricingDeps = { readonly loadCatalog: LoadCatalog; readonly headerPrefix: string }

/** Reads the request, finds its model and prices its worst case. */
export async function readAndPrice(
  { loadCatalog, headerPrefix }: PricingDeps,
  request: IdentifiedRequest,
  event: GatewayEvent,
): Promise<PricedChat> {
  if (request.isNowhere) throw await noEndpoint(event.requestContext.http.method, event.rawPath)
  const { endpoint, credential } = request
  const { readRequest, readCount = readRequest } = requestContractOf(endpoint)
  const catalog = await loadCatalog()
  const body = await readJson(event, (raw) => readJsonBody(raw, credential.key.id))
  const chat = (endpoint.countsOnly ? readCount : readRequest)(body)
  const model = catalog.models.get(chat.model)
  if (!model) throw noSuchModel(chat.model, modelsFor(credential.key, catalog))
  requireKind(chat, model)
  const wanted = headerOf(event, `${headerPrefix}Route`.toLowerCase())
  const priced = priceRequest(chat, model, catalog, pinnedProviders(wanted, model))
  return Object.assign(request, {
    priced: endpoint.countsOnly || endpoint.quotes ? { ...priced, isFree: true } : priced,
  })
}

/** Reads the body of a call. If it is no JSON, the refusal says where it breaks off; those words are loaded then. */
export async function readJson<T>(event: GatewayEvent, read: (raw: RawBody) => T): Promise<T> {
  const raw: RawBody = {
    body: event.body,
    isBase64Encoded: event.isBase64Encoded,
    contentType: headerOf(event, 'content-type'),
    contentEncoding: headerOf(event, 'content-encoding'),
  }
  try {
    return read(raw)
  } catch (error) {
    if (!(error instanceof GatewayError && error.message === NOT_JSON)) throw error
    const { jsonFault } = await import('#advice')
    throw badRequest('invalid_json', `${NOT_JSON.slice(0, -1)}: ${jsonFault(textOf(raw).text)}.`)
  }
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
