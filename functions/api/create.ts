import type { EndpointOf } from '../../layers/gateway/endpoints.ts'
import { admit, refusingAfterAdmission } from '../../layers/gateway/flow/admission/admit.ts'
import { type CountTokens, tokenQueue } from '../../layers/gateway/flow/billing/count-texts.ts'
import type { AdmittedChat, AdmittedRequest, GatewayEvent } from '../../layers/gateway/flow/request.ts'
import { type Page, servePages } from '../../layers/gateway/middleware/without-key.ts'
import { readKey } from '../../layers/gateway/store/keys/read-key.ts'
import { creditsOf, introspection } from '../../layers/gateway/wire/keys/introspection.ts'
import { admissionBy, gates } from '../gates.ts'
import type { Instance } from '../instance.ts'
import { jsonHandler } from '../json-handler.ts'
import { answerModels } from './answer-models.ts'
import { answerUsage } from './answer-usage.ts'
import { PUBLIC_PAGES } from './public-pages.ts'
import { readCall } from './read-call.ts'

const loadUsagePage = (): Promise<Page> => import('#usage-page').then(({ usagePage }) => usagePage())

type ApiEndpoint = EndpointOf<'api'>
type Answer = (request: AdmittedRequest, event: GatewayEvent) => Promise<unknown> | unknown

/** Everything but chat: the pages that need no key, and an answer for each endpoint. The gates refuse all other calls. */
export function createApi(instance: Instance, countTokens: CountTokens) {
  const { config, tables, loadCatalog } = instance
  const { forCounts } = tokenQueue(countTokens)
  const ofQuotes = { ...instance, countTokens: forCounts, countLater: forCounts, readKey: readKey(tables) }
  const answers: Readonly<Record<ApiEndpoint, Answer>> = {
    models: answerModels(loadCatalog),
    'key.introspect': ({ credential, requestId, nowMs }) =>
      introspection(credential.key, credential.hash, requestId, nowMs),
    credits: ({ credential }) => creditsOf(credential.key),
    usage: answerUsage(tables),
    // It has much of chat's code in it, for which no other call waits.
    quote: async (request) => (await import('#quote')).answerQuote(ofQuotes, request as AdmittedChat),
    unknown: () => {
      throw new Error('A call for no endpoint was admitted.')
    },
  }
  const pages = servePages({ ...PUBLIC_PAGES, ...(config.hasUsagePage && { '/usage': loadUsagePage }) })
  const admission = admissionBy(instance)
  const read = readCall(instance)
  return jsonHandler(instance, gates(instance, 'api', pages), async (request, event) => {
    await refusingAfterAdmission(admission, request, () => read(request, event)) // 400 403 404 405 413
    const { admitted } = await admit(admission, request) // 401 403 404 429
    return answers[request.endpoint.name as ApiEndpoint](admitted, event)
  })
}
