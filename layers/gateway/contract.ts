// Names on which infra, local and the functions must agree. Imports nothing.

export const BRAND = {
  keyPrefix: 'svc_live_',
  adminKeyPrefix: 'svc_admin_',
  headerPrefix: 'X-Svc-',
} as const

export const ENV = {
  keysTable: 'WAYBILL_KEYS_TABLE',
  usageTable: 'WAYBILL_USAGE_TABLE',
  answersTable: 'WAYBILL_ANSWERS_TABLE',
  stage: 'WAYBILL_STAGE',
  originSecrets: 'WAYBILL_ORIGIN_SECRETS',
  wholeAnswerMs: 'WAYBILL_WHOLE_ANSWER_MS',
  tokenizerFunction: 'WAYBILL_TOKENIZER_FUNCTION',
  keepRowsDays: 'WAYBILL_KEEP_ROWS_DAYS',
  exportBucket: 'WAYBILL_EXPORT_BUCKET',
  tracing: 'WAYBILL_TRACING',
  baseUrl: 'WAYBILL_BASE_URL',
  protected: 'WAYBILL_PROTECTED',
  adminKeys: 'WAYBILL_ADMIN_KEYS',
} as const

/** Headers that our own CloudFront distribution adds to a request: proof that it came that way, and the viewer's address. */
export const EDGE_HEADERS = { origin: 'x-waybill-origin', viewer: 'x-waybill-viewer' } as const

export const METRICS_NAMESPACE = 'Waybill'

/** The name in Secrets Manager of a catalog's `secret:NAME`. */
export const secretName = (stage: string, name: string) => `waybill/${stage}/${name}`

export const stackName = (stage: string) => `Waybill-${stage}`
export const OUTPUTS = {
  baseUrl: 'BaseUrl',
  chatUrl: 'ChatUrl',
  apiUrl: 'ApiUrl',
  keysTable: 'KeysTable',
  usageTable: 'UsageTable',
  answersTable: 'AnswersTable',
  /** Where closed days are exported to, and the database by which Athena reads them. */
  exportBucket: 'ExportBucket',
  exportDatabase: 'ExportDatabase',
  /** Policies for the people who operate the stage. */
  operatorPolicy: 'OperatorPolicy',
  readerPolicy: 'ReaderPolicy',
  /** The admin API, where the stage has one. */
  adminUrl: 'AdminUrl',
  /** 'true' where the operator's commands ask before they change anything. */
  protected: 'Protected',
  /** 'false' where no request can come over IPv6. */
  ipv6: 'Ipv6',
  /** CloudFront's own name, where the base URL has a domain. */
  edgeDomain: 'EdgeDomain',
  /** For the stack that logs CloudFront's requests, where it is in another region. */
  distributionId: 'DistributionId',
  /** 'true' where sampled requests leave a trace in X-Ray. */
  tracing: 'Tracing',
} as const

export type TableDefinition = {
  readonly partitionKey: string
  readonly sortKey?: string
  readonly timeToLive: string
  readonly indexes: readonly IndexDefinition[]
}

/** An item without the sort key is not in an index. */
export type IndexDefinition = {
  readonly name: string
  readonly partitionKey: string
  readonly sortKey: string
  /** The attributes in the index: all, or the keys only. */
  readonly projection: 'all' | 'keys'
}

// Every key attribute is a string.
export const TABLES = {
  keys: {
    partitionKey: 'pk',
    sortKey: 'sk',
    timeToLive: 'expiresAt',
    indexes: [{ name: 'bySweep', partitionKey: 'sk', sortKey: 'sweepAt', projection: 'keys' }],
  },
  /** Answers to requests that named an Idempotency-Key, encrypted, for a day. */
  answers: { partitionKey: 'id', timeToLive: 'expiresAt', indexes: [] },
  usage: {
    partitionKey: 'requestId',
    timeToLive: 'expiresAt',
    indexes: [{ name: 'byKey', partitionKey: 'keyDay', sortKey: 'startedAt', projection: 'all' }],
  },
} as const satisfies Record<string, TableDefinition>

/** How the items of the table `keys` are named. */
export const ITEMS = {
  key: 'KEY#',
  hash: 'HASH#',
  grant: 'GRANT#',
  /** Points from an operator's own id of a key to the key. */
  external: 'EXTERNAL#',
  catalog: 'CATALOG',
  /** Every version of the catalog, apart from the one in force: no function reads them. */
  versions: 'VERSIONS',
  /** Apart from the keys' own items, which the functions may write. */
  event: 'EVENT#',
  /** What an Idempotency-Key of the admin API stands for. */
  claim: 'CLAIM#',
  /** How the last audit of all keys ended. */
  audit: 'AUDIT',
  /** Admin keys, which no function can make or change. */
  adminKey: 'ADMIN#',
  /** Points from the hash of an admin key's secret to the key. */
  adminHash: 'ADMINHASH#',
  /** What an admin key has granted on a day. */
  adminGrants: 'ADMINGRANTS#',
} as const
export const CATALOG_ITEM = { pk: ITEMS.catalog, sk: ITEMS.catalog } as const
/** How the items of the table `usage` are named: rows by their request, and what is known of whole days. */
export const USAGE_ITEMS = { row: 'req_', day: 'DAY#' } as const
/** When the catalog was pushed, of one that nobody has pushed yet. */
export const SEEDED = 'with the first deployment'

export const SCOPES = ['chat.completions', 'embeddings', 'models.read'] as const
export type Scope = (typeof SCOPES)[number]

/** Rights to the tables, as infra gives them. */
export type TableRight =
  | 'readKeyItems'
  | 'readKeys'
  | 'readKeysAndCatalog'
  | 'admitAndSettle'
  | 'findKeysToSweep'
  | 'writeRows'
  | 'readRows'
  | 'listKeys'
  | 'readRowsOfKeys'
  | 'keepDays'
  | 'keepAnswers'

/** A function that answers callers: all that others must know of it. */
export type FunctionRecord = { readonly description: string; readonly rights: readonly TableRight[] }

/** By the folder under functions/. */
export const FUNCTIONS = {
  chat: {
    description: 'POST /v1/chat/completions, /v1/messages',
    rights: ['readKeysAndCatalog', 'admitAndSettle', 'writeRows', 'keepAnswers'],
  },
  models: { description: 'GET /v1/models', rights: ['readKeysAndCatalog', 'admitAndSettle', 'writeRows'] },
  introspect: { description: 'GET /v1/key/introspect', rights: ['readKeys', 'admitAndSettle', 'writeRows'] },
  usage: { description: 'GET /v1/usage/{id}', rights: ['readKeys', 'admitAndSettle', 'writeRows', 'readRows'] },
  fallback: { description: 'Unknown paths and methods', rights: ['readKeys', 'admitAndSettle', 'writeRows'] },
} as const satisfies Record<string, FunctionRecord>

export type FunctionName = keyof typeof FUNCTIONS
export const FUNCTION_NAMES = Object.keys(FUNCTIONS) as FunctionName[]

/** Those behind the HTTP API: all but chat, which streams. */
export type ApiFunctionName = Exclude<FunctionName, 'chat'>
export const API_FUNCTION_NAMES: readonly ApiFunctionName[] = FUNCTION_NAMES.filter((name) => name !== 'chat')

/** The words in which a model is asked and answers. Each has a folder under contracts/. */
export const CONTRACTS = ['chat', 'responses', 'messages', 'completions', 'embeddings'] as const
export type ContractName = (typeof CONTRACTS)[number]

/** One endpoint: all that others must know of it. */
export type EndpointRecord = {
  /** The function that serves it. */
  readonly function: FunctionName
  /** The scope that a key needs for it, if any. */
  readonly scope?: Scope
  /** The contract that is spoken at it, if a model is asked. */
  readonly contract?: ContractName
  /** Whether it only counts the tokens that a request would have, which is free. */
  readonly countsOnly?: boolean
  readonly routes: readonly HttpAddress[]
}

type HttpAddress = { readonly method: 'GET' | 'POST'; readonly path: string }

/** By the name in usage rows. The first of a function is that of its calls to nowhere. */
export const ENDPOINTS = {
  'chat.completions': {
    function: 'chat',
    scope: 'chat.completions',
    contract: 'chat',
    routes: [{ method: 'POST', path: '/v1/chat/completions' }],
  },
  responses: {
    function: 'chat',
    scope: 'chat.completions',
    contract: 'responses',
    routes: [{ method: 'POST', path: '/v1/responses' }],
  },
  completions: {
    function: 'chat',
    scope: 'chat.completions',
    contract: 'completions',
    routes: [{ method: 'POST', path: '/v1/completions' }],
  },
  embeddings: {
    function: 'chat',
    scope: 'embeddings',
    contract: 'embeddings',
    routes: [{ method: 'POST', path: '/v1/embeddings' }],
  },
  messages: {
    function: 'chat',
    scope: 'chat.completions',
    contract: 'messages',
    routes: [{ method: 'POST', path: '/v1/messages' }],
  },
  'messages.count_tokens': {
    function: 'chat',
    scope: 'chat.completions',
    contract: 'messages',
    countsOnly: true,
    routes: [{ method: 'POST', path: '/v1/messages/count_tokens' }],
  },
  models: {
    function: 'models',
    scope: 'models.read',
    routes: [
      { method: 'GET', path: '/v1/models' },
      { method: 'GET', path: '/v1/models/{id+}' },
    ],
  },
  'key.introspect': { function: 'introspect', routes: [{ method: 'GET', path: '/v1/key/introspect' }] },
  usage: { function: 'usage', routes: [{ method: 'GET', path: '/v1/usage/{id}' }] },
  unknown: { function: 'fallback', routes: [] },
} as const satisfies Record<string, EndpointRecord>

export type EndpointName = keyof typeof ENDPOINTS
export const ENDPOINT_NAMES = Object.keys(ENDPOINTS) as EndpointName[]

/** An endpoint with its name. */
export type Endpoint = EndpointRecord & { readonly name: EndpointName }

export const endpointNamed = (name: EndpointName): Endpoint => ({ name, ...ENDPOINTS[name] })

const NAMED_ENDPOINTS: readonly Endpoint[] = ENDPOINT_NAMES.map(endpointNamed)

export const endpointsOf = (name: FunctionName): readonly Endpoint[] =>
  NAMED_ENDPOINTS.filter((endpoint) => endpoint.function === name)

export type HttpRoute = HttpAddress & { readonly endpoint: Endpoint }

export const HTTP_ROUTES: readonly HttpRoute[] = NAMED_ENDPOINTS.flatMap((endpoint) =>
  endpoint.routes.map((address) => ({ ...address, endpoint })),
)

/** How the paths begin that lead to chat's own address. Everything else leads to the API. */
export const CHAT_PATHS: readonly string[] = HTTP_ROUTES.filter(({ endpoint }) => endpoint.function === 'chat')
  .map(({ path }) => path)
  .filter((path, _, paths) => !paths.some((start) => path !== start && path.startsWith(start)))

/** The roots of the admin API where it is deployed: for callers whom AWS has authenticated, and for admin keys. */
export const ADMIN_PATHS = { signed: '/admin/v1', keyed: '/keyed/admin/v1' } as const

export const FUNCTION_TIMEOUT_SECONDS = 900
/** A hold outlives its function by this much before it counts as a dead request's. */
export const HOLD_MARGIN_SECONDS = 60
export const SWEEP_EVERY_MINUTES = 5
export const CLOSE_EVERY_MINUTES = 60
