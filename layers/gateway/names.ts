// Names on which infra, local and the functions must agree. Imports nothing.

export const BRAND = {
  keyPrefix: 'svc_live_',
  adminKeyPrefix: 'svc_admin_',
  headerPrefix: 'X-Svc-',
} as const

const VARIABLES = [
  ...(['keysTable', 'usageTable', 'answersTable', 'stage', 'originSecrets', 'wholeAnswerMs'] as const),
  ...(['tokenizerFunction', 'compress', 'attribution', 'keepRowsDays', 'dailyLoss', 'usagePage'] as const),
  ...(['chatConcurrency', 'keyShare', 'exportBucket', 'baseUrl', 'apiUrl', 'keysTrail', 'protected'] as const),
  ...(['adminKeys', 'eventBus', 'otlpUrl', 'seller', 'currency', 'topUpUrl', 'webhookUrl', 'tellsNotices'] as const),
]
export type Variable = (typeof VARIABLES)[number]
/** The variables of the functions: `keysTable` is `WAYBILL_KEYS_TABLE`. */
export const ENV = /* @__PURE__ */ Object.fromEntries(
  /* @__PURE__ */ VARIABLES.map((name) => [name, `WAYBILL_${name.replaceAll(/[A-Z]/g, '_$&').toUpperCase()}`]),
) as Readonly<Record<Variable, string>>

/** Headers that our own CloudFront distribution adds to a request: proof that it came that way, the viewer's address, and the type of a long body. */
export const EDGE_HEADERS = { origin: 'x-waybill-origin', viewer: 'x-waybill-viewer', type: 'x-waybill-type' } as const

export const EVENT_SOURCE = 'waybill'
export const METRICS_NAMESPACE = 'Waybill'

/** A version of a function, in the metrics of its failures. */
export const versionName = (name = 'local', version = '0') => `${name}:${version}`

/** The name in Secrets Manager of the secret that a catalog calls `secret:NAME`. */
export const secretName = (stage: string, name: string) => `waybill/${stage}/${name}`

export const PROBE_SECRET = 'probe'
/** The secret that the notices of a stage are signed with. */
export const WEBHOOK_SECRET = 'webhook'

/** The name of a gateway on one machine, which no stage has. */
export const LOCAL_STAGE = 'local'

export const stackName = (stage: string) => `Waybill-${stage}`
export const OUTPUTS = {
  baseUrl: 'BaseUrl',
  chatUrl: 'ChatUrl',
  apiUrl: 'ApiUrl',
  keysTable: 'KeysTable',
  usageTable: 'UsageTable',
  answersTable: 'AnswersTable',
  /** The bucket of exported days, and the database by which Athena reads them. */
  exportBucket: 'ExportBucket',
  exportDatabase: 'ExportDatabase',
  eventBus: 'EventBus',
  /** Policies for the people who operate the stage. */
  operatorPolicy: 'OperatorPolicy',
  readerPolicy: 'ReaderPolicy',
  onCallPolicy: 'OnCallPolicy',
  dashboard: 'Dashboard',
  /** The application of CodeDeploy by which new code is rolled out, if it is. */
  rollout: 'RolloutApplication',
  adminUrl: 'AdminUrl',
  stage: 'Stage',
  /** 'true' if the operator's commands ask before they change anything. */
  protected: 'Protected',
  /** 'false' if no request can come over IPv6. */
  ipv6: 'Ipv6',
  /** CloudFront's own domain name, if the base URL has another one. */
  edgeDomain: 'EdgeDomain',
  /** Needed by the stacks in us-east-1 that log CloudFront's requests and watch it, if the stage is in another region. */
  distributionId: 'DistributionId',
} as const

/** The outputs with the names of a function, and of the log of a function or an API: `ChatFunction`, `ChatLogs`. */
export const functionOutput = (name: string) => `${name}Function`
export const logsOutput = (name: string) => `${name}Logs`

export type TableDefinition = {
  readonly partitionKey: string
  readonly sortKey?: string
  readonly timeToLive: string
  readonly indexes: readonly IndexDefinition[]
}

/** An item without the sort key is not in an index. */
type IndexDefinition = {
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
    indexes: [
      { name: 'bySweep', partitionKey: 'sk', sortKey: 'sweepAt', projection: 'keys' },
      // Only keys and admin keys have the attribute, which never changes, so no admission writes this index.
      { name: 'byCreation', partitionKey: 'sk', sortKey: 'createdAt', projection: 'keys' },
    ],
  },
  /** Answers to requests that named an Idempotency-Key, encrypted, for a day. */
  answers: { partitionKey: 'id', timeToLive: 'expiresAt', indexes: [] },
  usage: {
    partitionKey: 'part',
    sortKey: 'requestId',
    timeToLive: 'expiresAt',
    indexes: [{ name: 'byKey', partitionKey: 'keyDay', sortKey: 'startedAt', projection: 'all' }],
  },
} as const satisfies Record<string, TableDefinition>

const CATALOG = 'CATALOG'

export const ITEMS = {
  key: 'KEY#',
  hash: 'HASH#',
  grant: 'GRANT#',
  reference: 'REFERENCE#',
  /** Points from an operator's own id of a key to the key. */
  external: 'EXTERNAL#',
  catalog: CATALOG,
  /** Every version of the catalog, apart from the one in force: no function reads them. */
  versions: 'VERSIONS',
  /** Apart from the keys' own items, which the functions may write. */
  event: 'EVENT#',
  /** The act that an Idempotency-Key of the admin API stands for. */
  claim: 'CLAIM#',
  /** How the last audit of all keys ended. */
  audit: 'AUDIT',
  /** Admin keys, which no function can make or change. */
  adminKey: 'ADMIN#',
  /** Points from the hash of an admin key's secret to the key. */
  adminHash: 'ADMINHASH#',
  adminGrants: 'ADMINGRANTS#',
} as const
/** The partition of the deliveries of notices, in the table `keys`. */
export const NOTICE_LOG = 'NOTICES'
export const DELIVERY_STATES = ['told', 'failed', 'given_up'] as const
export const CATALOG_ITEM = { pk: CATALOG, sk: CATALOG } as const
/** The version of the catalog in force, and nothing of its content: a kilobyte to read in place of hundreds. */
export const CATALOG_HEAD = { pk: CATALOG, sk: 'HEAD' } as const
/** The form of what is in the tables, on both of these items. It is raised when an older gateway would read them wrongly. */
export const SCHEMA_VERSION = 1
/** The partitions of the table `usage`: rows by the day of their request, and facts about whole days. */
export const USAGE_ITEMS = { row: 'ROWS#', day: 'DAY#' } as const
/** Stands for the time of the push in a catalog that nobody has pushed yet. */
export const SEEDED = 'with the first deployment'

export const FUNCTION_TIMEOUT_SECONDS = 900
/** A hold outlives its function by this much before it counts as a dead request's. */
export const HOLD_MARGIN_SECONDS = 60
export const SWEEP_EVERY_MINUTES = 5
export const CLOSE_EVERY_MINUTES = 20
export const PROBE_EVERY_MINUTES = 5
