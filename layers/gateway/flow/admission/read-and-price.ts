import { requestContractOf } from '../../contracts/contracts.ts'
import { modelsFor } from '../../domain/admission/access.ts'
import { badRequest, GatewayError } from '../../domain/basics/gateway-error.ts'
import type { ChatRequest } from '../../domain/chat/chat.ts'
import { priceRequest } from '../../domain/money/priced-request.ts'
import { kindOf, MEDIA_KINDS, type PricedModel } from '../../domain/routing/catalog.ts'
import { pinnableRoutes } from '../../domain/routing/route-order.ts'
import { noEndpoint } from '../../wire/requests/find-route.ts'
import { NOT_JSON, type RawBody, readJsonBody, textOf } from '../../wire/requests/read-body.ts'
import { noSuchModel } from '../../wire/routing/models.ts'
import type { GatewayEvent, IdentifiedRequest, PricedChat } from '../request.ts'
import type { AdmitDeps } from './admit.ts'

type PricingDeps = Pick<AdmitDeps, 'catalogFor'> & { readonly headerPrefix: string }

export async function readAndPrice(
  { catalogFor, headerPrefix }: PricingDeps,
  request: IdentifiedRequest,
  event: GatewayEvent,
): Promise<PricedChat> {
  if (request.isNowhere) throw await noEndpoint(event.requestContext.http.method, event.rawPath)
  const { endpoint, credential } = request
  const contract = requestContractOf(endpoint)
  const { readRequest, readCount = readRequest, readCompaction = readRequest, requireRoom } = contract
  const catalog = await catalogFor(credential.key)
  const json = await readJson(event, (raw) => readJsonBody(raw, credential.key.id))
  const body = { ...json, betas: event.headers['anthropic-beta'] }
  const chat = (endpoint.countsOnly ? readCount : endpoint.compacts ? readCompaction : readRequest)(body)
  const model = catalog.models.get(chat.model)
  if (!model) throw noSuchModel(chat.model, modelsFor(credential.key, catalog))
  requireKind(chat, model)
  requireRoom?.(chat, model)
  const wanted = event.headers[`${headerPrefix}Route`.toLowerCase()]
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
    contentType: event.headers['content-type'],
    contentEncoding: event.headers['content-encoding'],
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
  const isTooExpensive = model.routes.some(({ provider }) => provider === refused)
  const why = isTooExpensive ? `'${refused}' costs more than the price of '${model.id}' and cannot be chosen. ` : ''
  const choices = allowed.length > 0 ? allowed.join(', ') : 'none'
  throw badRequest('invalid_route', `${why}The route header must be a list of providers of '${model.id}': ${choices}.`)
}

/** Refuses chat with an embedding model, embeddings of a chat model, and what a model does not take. */
function requireKind({ embedding, media }: ChatRequest, model: PricedModel): void {
  if (embedding && kindOf(model) !== 'embedding') {
    throw wrong('model', `The model '${model.id}' makes no embeddings. GET /v1/models says what each model serves.`)
  }
  if (!embedding && kindOf(model) === 'embedding') {
    throw wrong('model', `The model '${model.id}' makes embeddings only: ask it with POST /v1/embeddings.`)
  }
  requireMedia(media, model)
}

function requireMedia(media: ChatRequest['media'], { id, media: taken = MEDIA_KINDS }: PricedModel): void {
  const kind = MEDIA_KINDS.find((one) => media[one] > 0 && !taken.includes(one))
  if (kind === undefined && (media.any === 0 || taken.length > 0)) return
  const sent = kind === undefined ? 'an address, or data of an unknown kind' : `content of the kind '${kind}'`
  const takes = taken.length === 0 ? 'text only' : `text and ${taken.join(', ')}`
  throw badRequest('unsupported_parameter', `The prompt has ${sent}, but the model '${id}' takes ${takes}.`)
}

function wrong(param: string, message: string): GatewayError {
  return badRequest('invalid_value', message, param)
}
