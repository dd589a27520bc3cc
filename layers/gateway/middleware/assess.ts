import type { PricedModel } from '../domain/catalog.ts'
import { assessWork } from '../domain/chat-work.ts'
import { GatewayError } from '../domain/gateway-error.ts'
import type { LoadCatalog } from '../flow/catalog-cache.ts'
import { parseChatRequest } from '../wire/chat-request.ts'
import { readJsonBody } from '../wire/read-body.ts'
import { type Gate, type GatewayEvent, headerOf } from './gate.ts'

/** Reads the request and prices its worst case. A refusal found here waits until the call has spent its token. */
export function assess(loadCatalog: LoadCatalog, headerPrefix: string): Gate {
  const routeHeader = `${headerPrefix}Route`.toLowerCase()
  return {
    before: async ({ event, context: { passage } }) => {
      if (passage.refusal) return
      const catalog = await loadCatalog()
      try {
        const request = parseChatRequest(readJsonBody(rawBody(event)))
        const model = catalog.models.get(request.model)
        if (!model) throw noSuchModel(request.model)
        if (request.namedCap !== undefined && request.namedCap > model.maxOutputTokens) {
          const field = request.capFields.find((name) => request.body[name] === request.namedCap) ?? 'max_tokens'
          throw new GatewayError(
            'invalid_request',
            `'${field}' is ${request.namedCap}, but the model '${model.id}' generates at most ${model.maxOutputTokens} tokens.`,
            { param: field },
          )
        }
        const pinned = pinnedProviders(headerOf(event, routeHeader), model)
        passage.work = { chat: assessWork(request, model, catalog), catalog, pinned }
      } catch (error) {
        if (!(error instanceof GatewayError)) throw error
        passage.refusal = error
      }
    },
  }
}

/** `X-Svc-Route: provider[,provider]`: only these, in this order. */
function pinnedProviders(header: string | undefined, model: PricedModel): readonly string[] | undefined {
  if (header === undefined) return undefined
  const wanted = [...new Set(header.split(',').map((name) => name.trim()))]
  const known = [...new Set(model.routes.map(({ provider }) => provider))]
  if (wanted.every((name) => known.includes(name))) return wanted
  throw new GatewayError(
    'invalid_request',
    `The route header must be a list of providers of '${model.id}': ${known.join(', ')}.`,
    { code: 'invalid_route' },
  )
}

/** Starts the catalog's read beside the key's, on an instance that has neither. */
export function prefetch(loadCatalog: LoadCatalog): () => void {
  return () => {
    loadCatalog().catch(() => {})
  }
}

export function noSuchModel(id: string): GatewayError {
  const shown = id.length > 100 ? `${id.slice(0, 100)}…` : id
  return new GatewayError(
    'model_not_found',
    `The model '${shown}' does not exist here. GET /v1/models lists those that do.`,
    {
      param: 'model',
    },
  )
}

function rawBody(event: GatewayEvent) {
  return {
    body: event.body,
    isBase64Encoded: event.isBase64Encoded,
    contentType: headerOf(event, 'content-type'),
  }
}
