import type { AccountDetail } from '../../../layers/admin/api/shapes/accounts.ts'
import type { AuditLine, EventShape, NoticeShape } from '../../../layers/admin/api/shapes/books.ts'
import type {
  CatalogCheck,
  CatalogShape,
  CatalogVersionShape,
  PlanShape,
  RouteShape,
  RouteTestShape,
} from '../../../layers/admin/api/shapes/catalog.ts'
import type { GrantShape, KeyDetail } from '../../../layers/admin/api/shapes/keys.ts'
import type { RequestLine, RequestShape } from '../../../layers/admin/api/shapes/requests.ts'
import type { Overview, UsageNumbers, UsagePage } from '../../../layers/admin/api/shapes/usage.ts'
import { attemptWords, explainRequest } from '../../../layers/admin/explain/explain-request.ts'
import { toldAccountSettings, toldSettings } from '../../../layers/admin/settings/key-settings.ts'
import { operatorPart } from '../../../layers/admin/usage/usage-lines.ts'
import { KEY_DEFAULTS } from '../../../layers/gateway/domain/keys/new-key.ts'
import { partOf, UsageGroups } from '../../../layers/gateway/domain/rows/day-total.ts'
import { type Statement, statementOf } from '../../../layers/gateway/domain/rows/statement.ts'
import type { UsageRow } from '../../../layers/gateway/domain/rows/usage-row.ts'
import { usageRecord } from '../../../layers/gateway/wire/rows/usage-record.ts'
import { completedRow } from '../../support/completed-row.ts'

// Answers of a gateway with some history.

const NOW = Date.now()
const HOUR = 3_600_000
const DAY = 24 * HOUR
export const ago = (ms: number) => new Date(NOW - ms).toISOString()

export function sampleKey(index: number, changes: Partial<KeyDetail> = {}): KeyDetail {
  return {
    object: 'key',
    id: `key_${String(index).padStart(26, '0')}`,
    ...toldSettings({ ...KEY_DEFAULTS, name: `customer ${index}`, externalId: `cus_${index}` }),
    account_id: null,
    account_name: null,
    adopted_at: null,
    status: 'active',
    account_suspended: false,
    prefix: 'svc_live_',
    last_four: String(index).padStart(4, 'x'),
    previous: null,
    calls_today: index * 3,
    requests_open: 0,
    credit_windows: [],
    granted: '25',
    available: `${index}.5`,
    held: '0',
    spent: '4.123456789',
    loss_today: '0',
    last_used_at: ago(index * HOUR),
    created_at: ago(index * DAY),
    version: 1,
    badges: index % 3 === 0 ? ['no_allowlist', 'low'] : ['no_allowlist'],
    minute: { limit: 60, remaining: 12, reset_seconds: 40 },
    day: { limit: 10_000, remaining: 9_000, reset_seconds: 4000 },
    tokens: null,
    holds: [],
    ...changes,
  }
}

const ACCOUNT_ID = `acct_${'0'.repeat(26)}`

/** A customer whose keys are the sample keys 7 and 8. */
export function sampleAccount(changes: Partial<AccountDetail> = {}): AccountDetail {
  const keys = [7, 8].map((n) => sampleKey(n, { available: '1.5', spent: `${n}.25` }))
  return {
    object: 'account',
    id: ACCOUNT_ID,
    ...toldAccountSettings({
      name: 'acme',
      externalId: 'cus_acme',
      contactName: 'Ann Lee',
      notifyBelow: 2_000_000_000n,
    }),
    hides_balance: false,
    shows_statements: false,
    status: 'active',
    granted: '50',
    available: '34.25',
    held: '0.25',
    spent: '15.5',
    in_pool: '31.25',
    in_flight: '0',
    in_keys: '3',
    key_count: keys.length,
    created_at: ago(40 * DAY),
    version: 1,
    badges: ['low'],
    week_cost: '40',
    keys,
    ...changes,
  }
}

export const ofAccount = { account_id: ACCOUNT_ID, account_name: 'acme' }

export const REQUEST_ID = 'req_01K9TQ4Z8M3V7C5XWB2N6RHJDE'
export const OPEN_REQUEST_ID = 'req_01K9YYYYYYYYYYYYYYYYYYYYYY'

/** The first has been rotated, and has a request under way. */
export function sampleKeys(count: number): KeyDetail[] {
  const busy = sampleKey(1, {
    previous: { last_four: 'Old1', expires_at: ago(-50 * 60_000), last_used_at: ago(120_000) },
    held: '0.25',
    loss_today: '0.125',
    requests_open: 1,
    allowlist: ['203.0.113.0/24', '2001:db8::/32'],
    note: 'a note',
    daily_credits: '0.5',
    credit_windows: [{ setting: 'daily_credits', limit: '0.5', remaining: '0.2', reset_seconds: 4000 }],
    holds: [{ request_id: OPEN_REQUEST_ID, amount: '0.25', until: ago(-9 * 60_000), expired: false }],
  })
  const revoked = sampleKey(2, { status: 'revoked', badges: [] })
  const others = Array.from({ length: count - 2 }, (_, i) => sampleKey(i + 3, i + 3 > 6 && i < 6 ? ofAccount : {}))
  return [busy, revoked, ...others]
}

/** Models, and who serves each. */
const SERVED = [
  ['gpt-4o-mini', 'openai'],
  ['claude-sonnet', 'anthropic'],
  ['llama-70b', 'groq'],
] as const

/** The newest first; every fifth was refused, every eleventh failed, every seventh is a call that is not for a model. */
export function sampleLines(count: number): RequestLine[] {
  return Array.from({ length: count }, (_, i) => sampleLine(i))
}

export function sampleLine(i: number, changes: Partial<RequestLine> = {}): RequestLine {
  const [model, provider] = SERVED[i % 3] ?? SERVED[0]
  const answered: RequestLine = {
    object: 'request.line',
    account_id: null,
    account_name: null,
    request_id: i === 0 ? REQUEST_ID : `req_${String(i).padStart(26, '0')}`,
    key_id: sampleKey(1 + (i % 4)).id,
    key_name: `customer ${1 + (i % 4)}`,
    started_at: ago(i * i * 7_000),
    endpoint: i % 3 === 1 ? 'messages' : 'chat.completions',
    model,
    provider,
    stream: i % 2 === 0,
    http_status: 200,
    outcome: 'completed',
    error_code: null,
    replay_of: null,
    prompt_tokens: 1_000 + ((i * 7919) % 9_000),
    completion_tokens: 234 + ((i * 104_729) % 900),
    ttft_ms: i % 2 === 0 ? 420 + ((i * 131) % 700) : null,
    total_tokens: 1234,
    cost: `0.00${1 + (i % 8)}${(i * 7919) % 10_000}`,
    duration_ms: 812 + ((i * 1_543) % 9_000),
  }
  const none = { provider: null, prompt_tokens: 0, completion_tokens: 0, total_tokens: 0, ttft_ms: null, cost: '0' }
  const code = i % 5 === 4 ? 'rate_limit_exceeded' : i % 11 === 10 ? 'upstream_unavailable' : null
  if (code === 'rate_limit_exceeded')
    Object.assign(answered, none, { http_status: 429, outcome: 'refused', error_code: code, duration_ms: 4 })
  if (code === 'upstream_unavailable')
    Object.assign(answered, none, { provider, http_status: 503, outcome: 'upstream_error', error_code: code })
  if (i % 7 === 6) Object.assign(answered, none, { endpoint: 'models', model: null, stream: false, duration_ms: 3 })
  return { ...answered, ...changes }
}

const TRIED = [
  { provider: 'anthropic', model: 'claude-sonnet-4', ms: 640, result: 'status 529', said: 'overloaded_error' },
  {
    provider: 'openrouter',
    model: 'anthropic/claude-sonnet-4',
    ms: 1_300,
    result: 'timeout',
    said: 'No answer began within 1300 ms.',
  },
  { provider: 'openai', model: 'gpt-4o-mini-2024-07-18', ms: 4_512, result: 'ok' },
]

const keyId = sampleKey(1).id
const BEGUN = { keyId, startedAtMs: NOW - 120_000, hold: 10_000_000n }

/** The routes of the model failed, so that its fallback answered. */
const answeredRow: UsageRow = {
  ...completedRow({ requestId: REQUEST_ID, ...BEGUN, cost: 345_600n }),
  stream: true,
  model: 'claude-sonnet',
  provider: 'openai',
  upstreamModel: 'gpt-4o-mini-2024-07-18',
  fallbackModel: 'gpt-4o-mini',
  promptTokens: 1000,
  completionTokens: 326,
  askedMaxTokens: 64_000,
  loweredMaxTokens: 16_384,
  upstreamCost: 300_000n,
  droppedFields: 'top_k, safe_prompt',
  attempts: TRIED,
  ttftMs: 2_410,
  durationMs: 6_470,
}

export const FAILED_REQUEST_ID = 'req_01K9ZZZZZZZZZZZZZZZZZZZZZZ'

const failedRow: UsageRow = {
  ...completedRow({ requestId: FAILED_REQUEST_ID, ...BEGUN, cost: 0n }),
  outcome: 'upstream_error',
  httpStatus: 503,
  errorCode: 'upstream_rate_limited',
  usageSource: 'none',
  stream: true,
  model: 'claude-sonnet',
  completionTokens: 0,
  attempts: [
    { provider: 'anthropic', model: 'claude-sonnet-4', ms: 210, result: 'rate_limit 429', said: 'rate_limit_error' },
  ],
  durationMs: 224,
}

/** The request in the words of the admin API. */
function requestOf(row: UsageRow, bill: RequestShape['bill']): RequestShape {
  return {
    object: 'request',
    request_id: row.requestId,
    state: 'settled',
    key_id: keyId,
    key_name: 'customer 1',
    account_id: null,
    account_name: null,
    row: usageRecord(row) as NonNullable<RequestShape['row']>,
    attempts: row.attempts.map((one) => ({ ...one, words: attemptWords(one), said: one.said ?? null })),
    hold: null,
    ...operatorPart(row),
    bill,
    explanation: explainRequest(row, undefined, NOW),
  }
}

export const sampleRequest = requestOf(answeredRow, [
  { what: 'prompt', quantity: 1000, price: '0.15', per: 'million', amount: '0.00015' },
  { what: 'completion', quantity: 326, price: '0.60', per: 'million', amount: '0.0001956' },
])

export const failedRequest = requestOf(failedRow, [])

export const openRequest: RequestShape = {
  ...failedRequest,
  request_id: OPEN_REQUEST_ID,
  state: 'open',
  row: null,
  attempts: [],
  hold: sampleKeys(2)[0]?.holds[0] ?? null,
  explanation: [{ part: 'facts', name: 'state', lines: ['no row yet: it is still running, or it has died'] }],
}

export const sampleGrant: GrantShape = {
  object: 'grant',
  id: 'grant_1',
  credits: '25',
  reference: 'INV-1',
  by: 'arn:aws:iam::123456789012:user/ana',
  granted_at: ago(DAY),
}

export const sampleEvent: EventShape = {
  object: 'event',
  id: '01K9EVENT',
  at: ago(HOUR),
  by: 'arn:aws:iam::123456789012:user/ana',
  by_name: null,
  what: 'key.updated',
  key_id: sampleKey(1).id,
  key_name: 'customer 1',
  account_name: null,
  before: { rpm: 60, allowlist: [] },
  after: { rpm: 120, allowlist: ['203.0.113.0/24'] },
}

const eventOf = (n: number, agoMs: number, what: EventShape['what'], more: Partial<EventShape>): EventShape => ({
  ...sampleEvent,
  id: `01K9EVENT${n}`,
  at: ago(agoMs),
  what,
  before: null,
  ...more,
})

/** A creation sets every field. */
export const sampleEvents: EventShape[] = [
  sampleEvent,
  eventOf(0, 2 * HOUR, 'key.granted', {
    key_id: sampleKey(3).id,
    key_name: 'customer 3',
    after: { credits: '25' },
  }),
  eventOf(1, 3 * HOUR, 'catalog.pushed', {
    key_id: null,
    key_name: null,
    before: { version: 6 },
    after: { version: 7 },
  }),
  eventOf(2, DAY, 'key.created', {
    after: { name: 'customer 1', rpm: 60, daily_limit: 10_000, max_concurrent: 10, scopes: ['chat.completions'] },
  }),
]

export const samplePlan: PlanShape = {
  object: 'plan',
  name: 'gold',
  factor: '1.25',
  prices: {},
  rpm: 600,
  tpm: null,
  daily_limit: null,
  max_concurrent: null,
  daily_credits: null,
  monthly_credits: null,
  daily_loss: null,
  models: null,
  version: 7,
}

export const sampleStatement: Statement = statementOf(
  { id: ACCOUNT_ID, name: 'acme', externalId: 'cus_acme' },
  {
    isAccount: true,
    month: '2026-10',
    grants: [
      { credits: 20_000_000_000n, grantedAt: '2026-09-02T09:00:00.000Z', reference: 'INV-7' },
      { credits: 30_000_000_000n, grantedAt: '2026-10-05T09:00:00.000Z', reference: 'INV-12' },
    ],
    keys: [7, 8].map((n) => ({
      id: sampleKey(n).id,
      name: `customer ${n}`,
      before: 2_500_000_000n,
      models: UsageGroups.of([{ part: partOf(answeredRow) }], () => 'claude-sonnet'),
    })),
  },
  { seller: 'Waybill Ltd, 1 Dock Street', currency: 'USD 2' },
)

export const sampleNotice: NoticeShape = {
  object: 'notice',
  id: '01M7MP1PF88TGGJ0SQ19VVW7KB',
  type: 'key.balance_low',
  owner_id: sampleKey(3).id,
  owner_name: 'customer 3',
  status: 'failed',
  tries: 2,
  last_at: new Date(Date.now() - HOUR).toISOString(),
  by: null,
  error: 'The webhook answered with status 500.',
}

const NUMBERS: UsageNumbers = {
  requests: 1000,
  completed: 990,
  refused: 8,
  failed: 2,
  broken: 0,
  calls: 60,
  prompt_tokens: 1_000_000,
  completion_tokens: 200_000,
  cached_tokens: 1000,
  cache_write_tokens: 0,
  cache_write_1h_tokens: 0,
  reasoning_tokens: 0,
  cost: '0.27',
  upstream_cost: '0.34',
  margin: '-0.07',
  without_cost: 3,
  share: 0,
}

/** A week or a day of ups and downs, thirty days or 24 hours, the last of them still counting. */
export function sampleUsage(groupBy: UsagePage['group_by'], groups: number, bucket = '1d'): UsagePage {
  const named = Array.from({ length: groups }, (_, i) => ({
    ...NUMBERS,
    share: Math.floor(1000 / (i + 1)),
    group: { model: SERVED[i]?.[0] ?? '-', key: sampleKey(i + 1).id }[groupBy as string] ?? `${groupBy}-${i}`,
    label: `The ${groupBy} ${i}`,
  }))
  const [size, count] = bucket === '1h' ? [HOUR, 24] : [DAY, 30]
  const start = Math.floor(NOW / size) * size - (count - 1) * size
  return {
    object: 'page',
    group_by: groupBy,
    data: Array.from({ length: count }, (_, n) => ({
      object: 'bucket',
      start_time: new Date(start + n * size).toISOString(),
      end_time: new Date(start + (n + 1) * size).toISOString(),
      closed: n < count - 1,
      results: named.map(({ label: _, ...numbers }, i) => {
        const times = 1 + Math.sin((n + i * 2) / 4) / 2
        const requests = Math.round((400 * times) / (i + 1))
        const refused = Math.round(requests * 0.03) + (n === 9 && i === 1 ? 60 : 0)
        return {
          ...numbers,
          requests,
          completed: requests - refused - 2,
          refused,
          prompt_tokens: requests * 1_100,
          completion_tokens: requests * 210,
          cost: (0.27 * times).toFixed(9),
          share: Math.floor((1000 * (n + 1)) / count / groups),
        }
      }),
    })),
    total: NUMBERS,
    groups: named,
  }
}

function routeOf(model: string, provider: string, changes: Partial<RouteShape>): RouteShape {
  return {
    object: 'route',
    model,
    provider,
    upstream_model: model,
    order: 1,
    priority: 0,
    weight: 1,
    share: 1,
    first_token_ms: { p50: 380, p95: 1_240 },
    first_byte_timeout_ms: 300_000,
    idle_timeout_ms: 60_000,
    requests_24h: 1000,
    failures_24h: 0,
    refused_24h: 0,
    last_failure: null,
    resting_until: null,
    ...changes,
  }
}

export const sampleRoutes: RouteShape[] = [
  routeOf('gpt-4o-mini', 'openai', { weight: 3, share: 0.75 }),
  routeOf('gpt-4o-mini', 'openrouter', {
    order: 2,
    share: 0.25,
    first_token_ms: { p50: 470, p95: 1_940 },
    failures_24h: 12,
  }),
  routeOf('claude-sonnet', 'anthropic', {
    upstream_model: 'claude-sonnet-4-5',
    first_token_ms: { p50: 910, p95: 4_800 },
    first_byte_timeout_ms: 20_000,
    requests_24h: 40,
    failures_24h: 31,
    last_failure: {
      at: ago(30_000),
      request_id: FAILED_REQUEST_ID,
      result: 'status 529',
      words: 'answered with an error',
    },
    resting_until: ago(-270_000),
  }),
]

const FAULTS = { refused: 1, failed: 0, broken: 0 }

const rangeNumbers = (from: number, to: number, requests: number) => ({
  from: ago(from),
  to: ago(to),
  requests,
  errors: Math.round(requests * 0.0042),
  refused: Math.round(requests * 0.0031),
  failed: Math.round(requests * 0.0042) - Math.round(requests * 0.0031),
  broken: 0,
  cost: '182.403512',
  upstream_cost: '143.5',
  margin: '38.903512',
  first_token_ms: { p50: 420, p95: 1240 },
  duration_ms: { p50: 2100, p95: 9800 },
})

const top = (id: string, name: string, cost: number) => ({
  id,
  name,
  requests: 9_000,
  errors: 1,
  ...FAULTS,
  cost: String(cost),
  upstream_cost: '50',
  margin: '10',
})

export const sampleOverview: Overview = {
  object: 'overview',
  range: rangeNumbers(24 * HOUR, 0, 48_211),
  before: { ...rangeNumbers(48 * HOUR, 24 * HOUR, 43_046), cost: '167.1', first_token_ms: { p50: 440, p95: 1320 } },
  series: Array.from({ length: 24 }, (_, i) => ({
    start_time: ago((23 - i) * HOUR),
    requests: 1_500 + ((i * 7919) % 900),
    errors: (i * 31) % 17,
    ...FAULTS,
    cost: String(5 + ((i * 7919) % 13) / 4),
    upstream_cost: String(4 + ((i * 7919) % 13) / 5),
    margin: '1.1',
    first_token_ms: { p50: 400, p95: 1_000 + ((i * 104_729) % 500) },
  })),
  top_keys: [1, 2, 3].map((n) => top(sampleKey(n).id, `customer ${n}`, 90 / n)),
  top_models: ['gpt-4o-mini', 'claude-sonnet'].map((model, i) => top(model, model, 80 - i * 31.5)),
  spent_today: '1.23456789',
  spent_7_days: '12.3456789',
  requests_today: 4711,
  errors: [{ code: 'rate_limit_exceeded', requests: 12 }],
  keys: { active: 498, suspended: 1, expired: 0, revoked: 1 },
  accounts: { active: 1, suspended: 0, closed: 0 },
  low: [sampleKey(3)],
  low_accounts: [sampleAccount()],
  dead_requests: [],
  last_audit: { at: ago(DAY), keys: 500, wrong: 0 },
  routes: sampleRoutes,
}

/** As its author wrote it: with a default of the schema, and with one model in another order than the other. */
const written = {
  providers: Object.fromEntries([
    providerOf('openai', 'https://api.openai.com/v1'),
    providerOf('openrouter', 'https://openrouter.ai/api/v1', 'openai'),
    providerOf('anthropic', 'https://api.anthropic.com/v1'),
  ]),
  models: [
    {
      id: 'gpt-4o-mini',
      contextLength: 128_000,
      maxOutputTokens: 16_384,
      price: { input: '0.18', output: '0.72', request: '0.001' },
      routes: [
        { provider: 'openai', model: 'gpt-4o-mini', weight: 3, cost: { input: '0.15', output: '0.60' } },
        { provider: 'openrouter', model: 'gpt-4o-mini' },
      ],
    },
    {
      id: 'claude-sonnet',
      active: true,
      maxOutputTokens: 64_000,
      contextLength: 200_000,
      price: {
        input: '3.3',
        output: '14',
        cachedInput: '0.33',
        tiers: [{ above: 200_000, input: '6.6', output: '24.75' }],
      },
      routes: [
        {
          provider: 'anthropic',
          model: 'claude-sonnet-4-5',
          cost: { input: '3', output: '15', cachedInput: '0.3' },
        },
      ],
      fallback: ['gpt-4o-mini'],
    },
    {
      id: 'text-embedding-3-small',
      kind: 'embedding',
      contextLength: 8192,
      dimensions: 1536,
      price: { input: '0.024' },
      routes: [{ provider: 'openai', model: 'text-embedding-3-small', cost: { input: '0.02' } }],
    },
  ],
}

function providerOf(name: string, baseUrl: string, type = name) {
  return [name, { type, baseUrl, apiKey: `secret:${name}` }]
}

/** In the order in which the table gives it back, with the parser's defaults. */
const stored = {
  models: written.models.map(({ routes, ...model }) => ({
    routes: routes.map((route) => ({ priority: 0, weight: 1, idleTimeoutMs: 60_000, ...route })),
    active: true,
    ...model,
  })),
  providers: written.providers,
}

export const sampleCatalog: CatalogShape = {
  object: 'catalog',
  version: 7,
  pushed_at: ago(DAY),
  by: 'arn:aws:iam::123456789012:user/ana',
  note: 'Output dearer since November',
  catalog: stored,
  source: { $comment: 'Prices by models.dev/api.json of 2026-11-10 (sha256 9f86d081…).', ...written },
  changes: ['~ model gpt-4o-mini: output 0.60 → 0.80'],
  compared_to: 6,
  warnings: ['The model gpt-4o-mini is sold below cost.'],
}

export const sampleAudit: AuditLine[] = [
  {
    object: 'audit',
    key_id: sampleKey(1).id,
    name: 'customer 1',
    granted: '25.0',
    available: '20.0',
    held: '0',
    spent: '5.0',
    rows: 12,
    row_costs: '4.9',
    expired_rows: 0,
    balances: true,
    explained: false,
    ok: false,
    findings: [{ about: REQUEST_ID, text: 'its cost does not follow from its price', note: false }],
    more_findings: 2,
  },
  { object: 'audit.summary', keys: 1, accounts: 0, wrong: 1, at: ago(0), has_more: false, last_id: null },
]

export const sampleCheck: CatalogCheck = {
  object: 'catalog.check',
  valid: true,
  faults: [],
  warnings: [],
  below_cost: [],
  changes: sampleCatalog.changes,
  in_force: { version: 7, pushed_at: sampleCatalog.pushed_at },
}

/** The faults of a draft with a price below zero. */
export const faultyCheck: CatalogCheck = {
  ...sampleCheck,
  valid: false,
  faults: [{ path: 'models[0].price.output', message: 'must be a decimal' }],
  changes: [],
}

export const sampleVersions: CatalogVersionShape[] = [7, 6].map((version) => ({
  object: 'catalog.version',
  version,
  pushed_at: ago((8 - version) * DAY),
  by: 'local:ana',
  note: version === 7 ? 'Output dearer since November' : null,
  in_force: version === 7,
}))

export function sampleTest({ model, provider, upstream_model }: RouteShape): RouteTestShape {
  return {
    object: 'route.test',
    model,
    provider,
    upstream_model,
    ok: true,
    result: 'ok',
    first_token_ms: 90,
    tokens: 5,
    cost: '0.000001',
  }
}
