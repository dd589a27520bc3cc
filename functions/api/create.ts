import middy from '@middy/core'
import { loadContract } from '../../layers/gateway/contracts/contracts.ts'
import { modelsFor } from '../../layers/gateway/domain/admission/access.ts'
import { GatewayError } from '../../layers/gateway/domain/basics/gateway-error.ts'
import type { AccountBalance } from '../../layers/gateway/domain/keys/account.ts'
import type { Key } from '../../layers/gateway/domain/keys/key.ts'
import { isRequest, type UsageRow } from '../../layers/gateway/domain/rows/usage-row.ts'
import type { EndpointOf } from '../../layers/gateway/endpoints.ts'
import { admit, refusingAfterAdmission } from '../../layers/gateway/flow/admission/admit.ts'
import { readAndPrice, readJson } from '../../layers/gateway/flow/admission/read-and-price.ts'
import { type CountTokens, tokenQueue } from '../../layers/gateway/flow/billing/count-texts.ts'
import type {
  AdmittedChat,
  AdmittedRequest,
  GatewayAnswer,
  GatewayEvent,
  IdentifiedRequest,
} from '../../layers/gateway/flow/request.ts'
import type { GatewayContext } from '../../layers/gateway/middleware/gate.ts'
import { authorize } from '../../layers/gateway/middleware/identify.ts'
import { type Page, type Pages, servePages } from '../../layers/gateway/middleware/without-key.ts'
import { readTopUpUrl } from '../../layers/gateway/platform/config.ts'
import { waitAtMost } from '../../layers/gateway/platform/retry.ts'
import type { Tables } from '../../layers/gateway/store/dynamodb/database.ts'
import { readKey } from '../../layers/gateway/store/keys/read-key.ts'
import { newestRequests } from '../../layers/gateway/store/rows/newest-requests.ts'
import { type RowBudget, usageOfKey } from '../../layers/gateway/store/rows/usage-of-key.ts'
import { readUsageRow } from '../../layers/gateway/store/rows/usage-rows.ts'
import { creditsOf, introspection } from '../../layers/gateway/wire/keys/introspection.ts'
import { idInPath, noEndpoint } from '../../layers/gateway/wire/requests/find-route.ts'
import { CALLS } from '../../layers/gateway/wire/requests/no-such-path.ts'
import { readQuote } from '../../layers/gateway/wire/requests/read-quote.ts'
import { modelEntry, modelList, modelNotAllowed, noSuchModel } from '../../layers/gateway/wire/routing/models.ts'
import { readUsageQuery, type UsageGroup, type UsageQuery } from '../../layers/gateway/wire/rows/usage-query.ts'
import { usageRecord } from '../../layers/gateway/wire/rows/usage-record.ts'
import { usageSums } from '../../layers/gateway/wire/rows/usage-sums.ts'
import { admissionBy, gates, requestEnd } from '../gates.ts'
import type { Instance } from '../instance.ts'
import { answerStatement } from './answer-statement.ts'

const loadPages = () => import('#usage-page').then(({ builtPages }) => builtPages())

/** Kept back from the function's timeout: the answer is returned when the invocation ends, and must not be lost to it. */
const RESERVE_MS = 1_000

type ApiEndpoint = EndpointOf<'api'>
type Answer = (request: AdmittedRequest, event: GatewayEvent) => Promise<unknown> | unknown

/** Everything but chat: the pages that need no key, and an answer for each endpoint. The gates refuse all other calls. */
export function createApi(instance: Instance, countTokens: CountTokens) {
  const { config, tables, loadCatalog, cache } = instance
  const { forCounts } = tokenQueue(countTokens)
  const topUpUrl = readTopUpUrl(config)
  const ofQuotes = {
    ...instance,
    topUpUrl,
    countTokens: forCounts,
    countLater: forCounts,
    readKey: readKey(tables),
    wholeOf,
    accountOf,
  }
  const answers: Readonly<Record<ApiEndpoint, Answer>> = {
    models: answerModels,
    'key.introspect': async ({ credential, requestId, nowMs }) => {
      const key = await wholeOf(credential.key, nowMs)
      const told = introspection(key, credential.hash, requestId, nowMs, await accountOf(key))
      return { ...told, top_up_url: topUpUrl ?? null }
    },
    credits: async ({ credential, nowMs }) => {
      const key = await wholeOf(credential.key, nowMs)
      return creditsOf(key, await accountOf(key))
    },
    usage: answerUsage(tables),
    statements: answerStatement(tables),
    // It has much of chat's code in it, for which no other call waits.
    quote: async (request) => (await import('#quote')).answerQuote(ofQuotes, request as AdmittedChat),
    unknown: () => {
      throw new Error('A call for no endpoint was admitted.')
    },
  }
  const pages = servePages(publicPages(config.hasUsagePage))
  const admission = admissionBy(instance)
  const requireAccess = authorize({ readKey: readKey(tables), cache })
  const pricing = { ...admission, headerPrefix: config.headerPrefix }
  const end = requestEnd(instance)
  return middy<GatewayEvent, GatewayAnswer, Error, GatewayContext>({
    timeoutEarlyInMillis: 0,
    requestEnd: (ended) => waitAtMost(end(ended), ended.context.getRemainingTimeInMillis() - RESERVE_MS),
  })
    .use(gates(instance, 'api', pages))
    .handler(async (event: GatewayEvent, { request }: GatewayContext): Promise<GatewayAnswer> => {
      const answered = await answer(request as IdentifiedRequest, event)
      if (typeof answered === 'string') return { statusCode: 200, headers: HTML, body: answered }
      return { statusCode: 200, headers: { 'Content-Type': 'application/json' }, body: JSON.stringify(answered) }
    })

  async function answer(request: IdentifiedRequest, event: GatewayEvent): Promise<unknown> {
    // Tables of a newer schema are refused by the catalog, whatever is asked.
    await loadCatalog()
    await refusingAfterAdmission(admission, request, () => read(request, event)) // 400 403 404 405 413
    const { admitted } = await admit(admission, request) // 401 403 404 429
    return answers[request.endpoint.name as ApiEndpoint](admitted, event)
  }

  /** A quote is read and priced as the request that it is about, and its key is checked again, now for that endpoint. */
  async function read(request: IdentifiedRequest, event: GatewayEvent): Promise<void> {
    if (request.isNowhere) throw await noEndpoint(event.requestContext.http.method, event.rawPath)
    if (!request.endpoint.quotes) return
    await openQuote(request, event)
    await requireAccess(request, event)
    await readAndPrice(pricing, request, event)
  }

  /** All lanes of a key that has several, and their pool. */
  async function wholeOf(key: Key, nowMs: number): Promise<Key> {
    if (!key.lane) return key
    const { wholeKeys } = await import('#on-demand')
    const [whole = key] = await wholeKeys(tables)([key], nowMs)
    return whole
  }

  async function accountOf({ purse }: Key): Promise<AccountBalance | undefined> {
    if (!purse) return undefined
    const { readBalance } = await import('#on-demand')
    const found = await readBalance(tables)(purse.accountId)
    if (!found) throw new Error(`The account ${purse.accountId} is gone.`)
    return found
  }

  async function answerModels({ credential }: AdmittedRequest, { rawPath }: GatewayEvent) {
    const catalog = await admission.catalogFor(credential.key)
    const allowed = modelsFor(credential.key, catalog)
    const id = idInPath(rawPath)
    if (id === undefined) return modelList(allowed)
    const model = catalog.models.get(id)
    if (!model) throw noSuchModel(id, allowed)
    if (!allowed.includes(model)) throw modelNotAllowed(id)
    return modelEntry(model)
  }
}

/** The quoted request takes the place of the quote: it is read, checked and refused as at its own endpoint. */
async function openQuote(request: IdentifiedRequest, event: GatewayEvent): Promise<void> {
  const { endpoint, body } = await readJson(event, readQuote)
  const { contract, scope, compacts } = endpoint
  request.endpoint = {
    ...request.endpoint,
    ...(contract && { contract }),
    ...(scope && { scope }),
    ...(compacts && { compacts }),
  }
  event.body = body
  event.isBase64Encoded = false
  await loadContract(request.endpoint)
}

const COMMON = { 'X-Content-Type-Options': 'nosniff', 'Referrer-Policy': 'no-referrer' }
const HTML = { 'Content-Type': 'text/html; charset=utf-8' }

/** They tell a stranger no more than the documents do. */
function publicPages(hasUsagePage?: boolean): Pages {
  return {
    '/': async () => {
      const { home, usageLink } = await loadPages()
      return hasUsagePage ? home : { ...home, body: home.body.replace(usageLink, '') }
    },
    '/health': () => json('{"status":"ok"}', { 'Cache-Control': 'no-store' }),
    '/llms.txt': () => page(llms(), 'text/plain; charset=utf-8'),
    '/openapi.json': async () => json((await import('#openapi')).openapiText()),
    ...(hasUsagePage && { '/usage': async () => (await loadPages()).usage }),
  }
}

function llms(): string {
  const paths = CALLS.map((call) => `- ${call}`).join('\n')
  return `# Waybill

> A chat routing gateway: OpenAI- and Anthropic-compatible, with keys, limits and exact charges.

Call it as you would call OpenAI: the base URL is this address with /v1, and every call has the header "Authorization: Bearer KEY" with a key of this gateway. GET /v1/models lists the models of the key, POST /v1/quote what a request would cost. An answer has X-Request-Id, by which GET /v1/usage/ID tells its charge.

## Calls

${paths}

## Documents

- [OpenAPI](/openapi.json): every call, its fields and its errors
`
}

function page(body: string, type: string, headers: Readonly<Record<string, string>> = {}): Page {
  return { body, headers: { ...COMMON, 'Content-Type': type, 'Cache-Control': 'public, max-age=300', ...headers } }
}

function json(body: string, headers?: Readonly<Record<string, string>>): Page {
  return page(body, 'application/json', { 'Access-Control-Allow-Origin': '*', ...headers })
}

/** The most rows that a call reads for a filter that few rows pass, and for sums: it is free, and must stay cheap. */
const MOST_ROWS = { listed: 2_000, summed: 10_000 }

export function answerUsage(tables: Tables) {
  const read = readUsageRow(tables)
  return ({ credential: { key }, nowMs }: AdmittedRequest, { rawPath, rawQueryString }: GatewayEvent) => {
    const id = idInPath(rawPath)
    if (id !== undefined) return answerRow(id, key.id)
    const query = readUsageQuery(rawQueryString, nowMs)
    const { group } = query
    return group === undefined ? answerList(tables, key, query) : answerSums(tables, key, { ...query, group }, nowMs)
  }

  async function answerRow(requestId: string, keyId: string) {
    const row = await read(requestId)
    if (row?.keyId === keyId) return usageRecord(row)
    throw new GatewayError(
      'not_found',
      'This key has no request with that id. It is in the X-Request-Id header of an answer.',
    )
  }
}

async function answerList(tables: Tables, { id: keyId }: Key, query: UsageQuery) {
  const { model, calls } = query
  const matches = (row: UsageRow) =>
    (calls !== undefined || isRequest(row)) && (model === undefined || row.model === model)
  const asked = { ...query, keyIds: [keyId], matches, mostRows: MOST_ROWS.listed }
  const { rows, next } = await newestRequests(tables, asked)
  return {
    object: 'list',
    data: rows.map(usageRecord),
    has_more: next !== undefined,
    last_id: next ?? rows.at(-1)?.requestId ?? null,
  }
}

type Summed = UsageQuery & { readonly group: UsageGroup }

export async function answerSums(tables: Tables, key: Key, query: Summed, nowMs: number, rows = MOST_ROWS.summed) {
  const { range, model, group } = query
  const budget: RowBudget = { rows, leftOut: [], nowMs }
  const usage = await Array.fromAsync(usageOfKey(tables, key, range, budget))
  const wanted = model === undefined ? usage : usage.filter(({ part }) => part.model === model)
  return usageSums(group, range, wanted, budget.leftOut)
}
