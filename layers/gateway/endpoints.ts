// The one table of endpoints, for infra, local, the functions and the documents' tests. Imports nothing.

export const SCOPES = ['chat.completions', 'embeddings', 'models.read'] as const
export type Scope = (typeof SCOPES)[number]

/** The functions that answer callers, by their folders under functions/, with the names of their rights to the tables. */
export const FUNCTIONS = {
  chat: {
    description: 'Asks models, in every contract',
    rights: ['readKeysAndCatalog', 'admitAndSettle', 'writeRows', 'keepAnswers'],
  },
  api: {
    description: 'Everything but chat: models, keys, usage, quotes, public pages, and the refusal of unknown paths',
    rights: ['readKeysAndCatalog', 'admitAndSettle', 'writeRows', 'readRows', 'readRowsOfKeys', 'readDays'],
  },
} as const satisfies Record<string, { readonly description: string; readonly rights: readonly string[] }>

export type FunctionName = keyof typeof FUNCTIONS

/** The formats in which a model is asked and answers. Each has a folder under contracts/. */
export const CONTRACTS = ['chat', 'responses', 'messages', 'completions', 'embeddings'] as const
export type ContractName = (typeof CONTRACTS)[number]

type EndpointRecord = {
  readonly function: FunctionName
  readonly scope?: Scope
  readonly contract?: ContractName
  /** True if it has no contract and its answer is made from the catalog all the same. */
  readonly readsCatalog?: boolean
  /** True if it only counts the tokens that a request would have, which is free. */
  readonly countsOnly?: boolean
  /** True if it makes a conversation shorter. */
  readonly compacts?: boolean
  /** True if it only tells what a request to another endpoint would hold and cost, which is free. */
  readonly quotes?: boolean
  readonly routes: readonly HttpAddress[]
}

type HttpAddress = { readonly method: 'GET' | 'POST'; readonly path: string }
const get = <Path extends string>(path: Path) => ({ method: 'GET', path }) as const
const post = <Path extends string>(path: Path) => ({ method: 'POST', path }) as const

const ASKS_MODELS = { function: 'chat', scope: 'chat.completions' } as const

/** Each has its name in usage rows. A call to an unknown path of a function counts as one of its first endpoint. */
export const ENDPOINTS = {
  'chat.completions': { ...ASKS_MODELS, contract: 'chat', routes: [post('/v1/chat/completions')] },
  responses: { ...ASKS_MODELS, contract: 'responses', routes: [post('/v1/responses')] },
  'responses.input_tokens': {
    ...ASKS_MODELS,
    contract: 'responses',
    countsOnly: true,
    routes: [post('/v1/responses/input_tokens')],
  },
  'responses.compact': {
    ...ASKS_MODELS,
    contract: 'responses',
    compacts: true,
    routes: [post('/v1/responses/compact')],
  },
  completions: { ...ASKS_MODELS, contract: 'completions', routes: [post('/v1/completions')] },
  embeddings: { function: 'chat', scope: 'embeddings', contract: 'embeddings', routes: [post('/v1/embeddings')] },
  messages: { ...ASKS_MODELS, contract: 'messages', routes: [post('/v1/messages')] },
  'messages.count_tokens': {
    ...ASKS_MODELS,
    contract: 'messages',
    countsOnly: true,
    routes: [post('/v1/messages/count_tokens')],
  },
  models: {
    function: 'api',
    scope: 'models.read',
    readsCatalog: true,
    routes: [get('/v1/models'), get('/v1/models/{id+}')],
  },
  'key.introspect': { function: 'api', routes: [get('/v1/key/introspect')] },
  credits: { function: 'api', routes: [get('/v1/credits')] },
  usage: { function: 'api', routes: [get('/v1/usage'), get('/v1/usage/{id+}')] },
  statements: { function: 'api', routes: [get('/v1/statements/{id}')] },
  // Its contract and scope are those of the endpoint that a call quotes.
  quote: { function: 'api', quotes: true, readsCatalog: true, routes: [post('/v1/quote')] },
  unknown: { function: 'api', routes: [] },
} as const satisfies Record<string, EndpointRecord>

export type EndpointName = keyof typeof ENDPOINTS
export const ENDPOINT_NAMES = Object.keys(ENDPOINTS) as EndpointName[]

export type Endpoint = EndpointRecord & { readonly name: EndpointName }

export const endpointNamed = (name: EndpointName): Endpoint => ({ name, ...ENDPOINTS[name] })

const NAMED_ENDPOINTS: readonly Endpoint[] = ENDPOINT_NAMES.map(endpointNamed)

export const endpointsOf = (name: FunctionName): readonly Endpoint[] =>
  NAMED_ENDPOINTS.filter((endpoint) => endpoint.function === name)

export type EndpointOf<Name extends FunctionName> = {
  [Endpoint in EndpointName]: (typeof ENDPOINTS)[Endpoint]['function'] extends Name ? Endpoint : never
}[EndpointName]

export type HttpRoute = HttpAddress & { readonly endpoint: Endpoint }

export const HTTP_ROUTES: readonly HttpRoute[] = NAMED_ENDPOINTS.flatMap((endpoint) =>
  endpoint.routes.map((address) => ({ ...address, endpoint })),
)

/** False of calls such as those for the balance, a quote or the list of models, which are no requests in lists and sums. */
export const asksModel = (name: string): boolean =>
  (ENDPOINTS as Readonly<Record<string, EndpointRecord>>)[name]?.contract !== undefined

/** True if a request to it is charged, so that it can be quoted. */
export const isBilled = ({ contract, countsOnly }: EndpointRecord): boolean => contract !== undefined && !countsOnly

export const needsCatalog = ({ contract, readsCatalog }: EndpointRecord): boolean =>
  contract !== undefined || readsCatalog === true

/** The beginnings of the paths that lead to chat's own address. All other paths lead to the API. */
export const CHAT_PATHS: readonly string[] = HTTP_ROUTES.filter(({ endpoint }) => endpoint.function === 'chat')
  .map(({ path }) => path)
  .filter((path, _, paths) => !paths.some((start) => path !== start && path.startsWith(start)))

export const ADMIN_ROOT = '/admin/v1'
/** The roots of the admin API where it is deployed: for callers whom AWS has authenticated, and for admin keys. */
export const ADMIN_PATHS = { signed: ADMIN_ROOT, keyed: `/keyed${ADMIN_ROOT}` } as const
/** POST routes of the admin API that only read. Read-only callers may use them, beside every GET. */
export const ADMIN_READING_POSTS: readonly string[] = ['/audits', '/catalog/check']
