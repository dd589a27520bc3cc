// Names on which infra, local and the functions must agree. Imports nothing.

export const BRAND = {
  keyPrefix: 'svc_live_',
  headerPrefix: 'X-Svc-',
} as const

export const ENV = {
  keysTable: 'WAYBILL_KEYS_TABLE',
  usageTable: 'WAYBILL_USAGE_TABLE',
  answersTable: 'WAYBILL_ANSWERS_TABLE',
  keyPrefix: 'WAYBILL_KEY_PREFIX',
  headerPrefix: 'WAYBILL_HEADER_PREFIX',
  stage: 'WAYBILL_STAGE',
  originSecret: 'WAYBILL_ORIGIN_SECRET',
  wholeAnswerMs: 'WAYBILL_WHOLE_ANSWER_MS',
} as const

/** What our own CloudFront distribution adds to a request: proof that it came that way, and the viewer's address. */
export const EDGE_HEADERS = { origin: 'x-waybill-origin', viewer: 'x-waybill-viewer' } as const

export const METRICS_NAMESPACE = 'Waybill'

/** Where a provider's key is kept in Secrets Manager, for `secret:NAME` in the catalog. */
export const secretName = (stage: string, name: string) => `waybill/${stage}/${name}`

export const stackName = (stage: string) => `Waybill-${stage}`
export const OUTPUTS = {
  baseUrl: 'BaseUrl',
  chatUrl: 'ChatUrl',
  apiUrl: 'ApiUrl',
  keysTable: 'KeysTable',
  usageTable: 'UsageTable',
  answersTable: 'AnswersTable',
  /** 'true' where the operator's commands ask before they change anything. */
  protected: 'Protected',
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
  /** What an index has of an item: everything, or only what finds it. */
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
  /** Answers kept for a day, sealed, for requests that named an Idempotency-Key. */
  answers: { partitionKey: 'id', timeToLive: 'expiresAt', indexes: [] },
  usage: {
    partitionKey: 'requestId',
    timeToLive: 'expiresAt',
    indexes: [{ name: 'byKey', partitionKey: 'keyDay', sortKey: 'startedAt', projection: 'all' }],
  },
} as const satisfies Record<string, TableDefinition>

/** How the items of the table `keys` are named. */
export const ITEMS = { key: 'KEY#', hash: 'HASH#', grant: 'GRANT#', catalog: 'CATALOG' } as const
export const CATALOG_ITEM = { pk: ITEMS.catalog, sk: ITEMS.catalog } as const

export type Scope = 'chat.completions' | 'models.read'
export const SCOPES: readonly Scope[] = ['chat.completions', 'models.read']

export type FunctionName = 'chat' | 'models' | 'introspect' | 'usage' | 'fallback'

export type Route = { readonly method: 'GET' | 'POST'; readonly path: string; readonly function: FunctionName }

export const ROUTES: readonly Route[] = [
  { method: 'POST', path: '/v1/chat/completions', function: 'chat' },
  { method: 'GET', path: '/v1/models', function: 'models' },
  { method: 'GET', path: '/v1/models/{id+}', function: 'models' },
  { method: 'GET', path: '/v1/key/introspect', function: 'introspect' },
  { method: 'GET', path: '/v1/usage/{id}', function: 'usage' },
]

export const FUNCTION_TIMEOUT_SECONDS = 900
export const SWEEP_EVERY_MINUTES = 5
