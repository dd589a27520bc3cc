import { asksModel, type ContractName, type EndpointName } from '../../endpoints.ts'
import { utcDay } from '../basics/time.ts'
import type { UsageSource } from '../money/bill.ts'
import type { Nano } from '../money/money.ts'
import type { StatedPrice } from '../money/price.ts'
import { TOKEN_FIELDS } from '../money/price-kinds.ts'
import type { Attribution } from './attribution.ts'

export const OUTCOMES = ['completed', 'refused', 'upstream_error', 'abandoned'] as const
export type Outcome = (typeof OUTCOMES)[number]

/** One route that was asked: the result, and the duration from the call to the end of its answer. */
export type Attempt = {
  readonly provider: string
  readonly model: string
  readonly result: string
  readonly ms: number
  /** Only for operators: the names that the upstream gave to its error, or how it failed. Never a text of the caller. */
  readonly said?: string | undefined
}

/** The result of a route that answered, and went on beyond its output cap. */
export const BEYOND_CAP = 'beyond_cap'

/** The values of each kind. A row that lacks a count has 0 of it; a row that lacks a number has no such number. */
type Values = {
  readonly text: string
  readonly count: number
  readonly number: number
  readonly credits: Nano
  readonly moment: number
  readonly flag: boolean
  /** Credits per million tokens, of the request's tier if it has one. */
  readonly price: StatedPrice
  readonly attempts: readonly Attempt[]
  readonly tags: NonNullable<Attribution['tags']>
}
export type UsageFieldKind = keyof Values

export type UsageField = {
  readonly api: string
  readonly kind: UsageFieldKind
  readonly optional?: true
  readonly operatorOnly?: true
}

/** Records, exports, CSV and schemas are made from these rows. New ones go to the end, so that columns stay. */
const FIELDS = {
  requestId: { api: 'request_id', kind: 'text' },
  keyId: { api: 'key_id', kind: 'text' },
  startedAtMs: { api: 'started_at', kind: 'moment' },
  endpoint: { api: 'endpoint', kind: 'text' },
  contract: { api: 'contract', kind: 'text', optional: true },
  outcome: { api: 'outcome', kind: 'text' },
  httpStatus: { api: 'http_status', kind: 'number' },
  errorCode: { api: 'error_code', kind: 'text', optional: true },
  model: { api: 'model', kind: 'text', optional: true },
  provider: { api: 'provider', kind: 'text', optional: true },
  upstreamModel: { api: 'upstream_model', kind: 'text', optional: true },
  fallbackModel: { api: 'fallback_model', kind: 'text', optional: true },
  replayOf: { api: 'replay_of', kind: 'text', optional: true },
  stream: { api: 'stream', kind: 'flag' },
  promptTokens: { api: 'prompt_tokens', kind: 'count' },
  completionTokens: { api: 'completion_tokens', kind: 'count' },
  cachedTokens: { api: 'cached_tokens', kind: 'count' },
  cacheWriteTokens: { api: 'cache_write_tokens', kind: 'count', optional: true },
  cacheWrite1hTokens: { api: 'cache_write_1h_tokens', kind: 'count', optional: true },
  reasoningTokens: { api: 'reasoning_tokens', kind: 'count', optional: true },
  images: { api: 'images', kind: 'count', optional: true },
  askedMaxTokens: { api: 'asked_max_tokens', kind: 'number', optional: true },
  loweredMaxTokens: { api: 'lowered_max_tokens', kind: 'number', optional: true },
  usageSource: { api: 'usage_source', kind: 'text' },
  estimatedBy: { api: 'estimated_by', kind: 'text', optional: true },
  usageRejected: { api: 'usage_rejected', kind: 'flag' },
  usageCapped: { api: 'usage_capped', kind: 'flag', optional: true },
  cost: { api: 'cost', kind: 'credits' },
  hold: { api: 'hold', kind: 'credits' },
  upstreamCost: { api: 'upstream_cost', kind: 'credits', optional: true, operatorOnly: true },
  upstreamCostSource: { api: 'upstream_cost_source', kind: 'text', optional: true, operatorOnly: true },
  priceVersion: { api: 'price_version', kind: 'number', optional: true },
  price: { api: 'pricing', kind: 'price', optional: true },
  attempts: { api: 'attempts', kind: 'attempts' },
  ttftMs: { api: 'ttft_ms', kind: 'number', optional: true },
  durationMs: { api: 'duration_ms', kind: 'number' },
  droppedFields: { api: 'dropped_fields', kind: 'text', optional: true },
  user: { api: 'user', kind: 'text', optional: true },
  tags: { api: 'tags', kind: 'tags', optional: true },
  stopReason: { api: 'stop_reason', kind: 'text', optional: true, operatorOnly: true },
  loss: { api: 'loss', kind: 'credits', optional: true, operatorOnly: true },
  serviceTier: { api: 'service_tier', kind: 'text', optional: true, operatorOnly: true },
  alsoRefused: { api: 'also_refused', kind: 'count', optional: true },
  accountId: { api: 'account_id', kind: 'text', optional: true },
  lane: { api: 'lane', kind: 'number', optional: true, operatorOnly: true },
  plan: { api: 'plan', kind: 'text', optional: true },
  priceFactor: { api: 'price_factor', kind: 'text', optional: true },
  finishReason: { api: 'finish_reason', kind: 'text', optional: true },
  webSearches: { api: 'web_searches', kind: 'count', optional: true },
  webFetches: { api: 'web_fetches', kind: 'count', optional: true },
  fileSearches: { api: 'file_searches', kind: 'count', optional: true },
  codeExecutions: { api: 'code_executions', kind: 'count', optional: true },
  imageGenerations: { api: 'image_generations', kind: 'count', optional: true },
  mcpCalls: { api: 'mcp_calls', kind: 'count', optional: true },
} as const satisfies Readonly<Record<string, UsageField>>

export type UsageFieldTable = typeof FIELDS
/** Every fact about a request, so all fields but the time at which the row may go. */
export type UsageFieldName = keyof UsageFieldTable
export const USAGE_FIELDS: Readonly<Record<UsageFieldName, UsageField>> = FIELDS

type Words = {
  readonly endpoint: EndpointName
  readonly contract: ContractName
  readonly outcome: Outcome
  readonly usageSource: UsageSource
  readonly estimatedBy: 'characters'
  readonly upstreamCostSource: 'provider'
}
type Value<Name extends UsageFieldName> = Name extends keyof Words ? Words[Name] : Values[UsageFieldTable[Name]['kind']]
type Optional = {
  [Name in UsageFieldName]: UsageFieldTable[Name] extends { readonly optional: true } ? Name : never
}[UsageFieldName]

/** The waybill of one request: its route, its provider and its cost. Never its text. */
export type UsageRow = { readonly [Name in Exclude<UsageFieldName, Optional>]: Value<Name> } & {
  readonly [Name in Optional]?: Value<Name> | undefined
} & {
  /** DynamoDB may delete the row from this time on; without it the row stays for good. */
  readonly keptUntilMs?: number | undefined
}

/** False of a call that asks no model. A request that died has no endpoint in its row. */
export function isRequest({ endpoint, outcome }: Pick<UsageRow, 'endpoint' | 'outcome'>): boolean {
  return asksModel(endpoint) || (endpoint === 'unknown' && outcome === 'abandoned')
}

export const SUMMED_FIELDS = [
  ...TOKEN_FIELDS,
  'reasoningTokens',
  'cost',
  'upstreamCost',
] as const satisfies readonly UsageFieldName[]

/** People read these words. No function that answers chats has them in its bundle. */
export const USAGE_WORDS: Readonly<Record<UsageFieldName, string>> = {
  requestId: 'The id of the request, as in the X-Request-Id header of its answer.',
  keyId: 'The id of the key that made the request.',
  startedAtMs: 'The moment at which the request began, in UTC.',
  endpoint: 'The endpoint that was called; unknown for a request that died.',
  contract: 'The contract in which a model was asked.',
  outcome: 'How the request ended.',
  httpStatus: 'The status of the answer; 0 if none was sent.',
  errorCode: 'The code of the error that ended the request.',
  model: 'The model that was asked for.',
  provider: 'The provider that answered, or the last one that was asked.',
  upstreamModel: 'The name of the model at that provider.',
  fallbackModel: 'The other model that answered in place of the one asked for.',
  replayOf: 'The request whose answer was given again.',
  stream: 'The answer was streamed.',
  promptTokens: 'Tokens of the prompt, with those that went through a cache.',
  completionTokens: 'Tokens of the completion, with those of reasoning.',
  cachedTokens: 'Of the prompt tokens, those that were read from a cache.',
  cacheWriteTokens: 'Of the prompt tokens, those that the provider wrote to its cache.',
  cacheWrite1hTokens: 'Of those written to a cache, the ones that stay there for an hour.',
  reasoningTokens: 'Of the completion tokens, those that the model thought with.',
  images: 'Images in the prompt, if they have a price of their own.',
  askedMaxTokens: 'The output cap that the caller asked for, if it was lowered.',
  loweredMaxTokens: 'The output cap after it was lowered for the model, the credits or the limits.',
  usageSource: 'The counter of the tokens: the upstream, our estimate, or nobody.',
  estimatedBy: 'The method of an estimate: by characters if the tokenizer could not be reached.',
  usageRejected: 'The upstream reported something that is no count.',
  usageCapped: 'The counts came to more than was held, so the hold was charged.',
  cost: 'The charge, in credits.',
  hold: 'The worst case held at admission, in credits.',
  upstreamCost: 'The cost to us in credits, if the provider states it or the route has a cost.',
  upstreamCostSource:
    "The source of that cost: the provider stated it with its answer, or it follows from the route's cost.",
  priceVersion: 'The version of the catalog that priced it.',
  price: 'The price by which it was charged, of its tier if it has one.',
  attempts: 'The routes that were asked, in order.',
  ttftMs: 'Milliseconds to the first token; null for an answer that the upstream gave in one piece.',
  durationMs: 'Milliseconds from the begin of the request to the end of its answer.',
  droppedFields: 'The names of fields that the provider was not given, because the catalog tells to leave them out.',
  user: 'The end user, as the caller named it: a claim that nobody has checked.',
  tags: 'Names and values from the metadata of the request, as the caller gave them.',
  stopReason: "The provider's own name for the end of the answer, if it is not a known one.",
  loss: 'What the request may have cost us beyond its charge: the answer, and attempts that brought none.',
  serviceTier: 'The tier in which the provider served the answer, if it is none at its list price.',
  alsoRefused: 'Requests of the key that were refused before this one and have no row, because they were too many.',
  accountId: 'The id of the account of that key; null for a key alone.',
  lane: 'The lane of the key in which the request was counted, from 1 on; null for the first one.',
  plan: 'The plan of the key by which it was charged.',
  priceFactor: 'The factor of that plan; null if the plan has a price of its own for the model.',
  webSearches: 'Web searches that the provider ran.',
  webFetches: 'Web pages that the provider fetched.',
  fileSearches: 'Searches of files that the provider ran.',
  codeExecutions: 'Containers in which the provider ran code.',
  imageGenerations: 'Images that the provider generated with a tool.',
  mcpCalls: 'Calls of MCP servers that the provider made.',
  finishReason: 'The reason for which the answer ended, in the words of chat completions.',
}

export const USAGE_FIELD_NAMES = Object.keys(USAGE_FIELDS) as UsageFieldName[]
/** A caller is not told the cost to the operator. */
export const CALLER_FIELDS = USAGE_FIELD_NAMES.filter((name) => !isOperatorField(name))
export const OPERATOR_FIELDS = USAGE_FIELD_NAMES.filter(isOperatorField)
export const CREDIT_FIELDS = USAGE_FIELD_NAMES.filter((name) => USAGE_FIELDS[name].kind === 'credits')

type OperatorField = {
  [Name in UsageFieldName]: UsageFieldTable[Name] extends { readonly operatorOnly: true } ? Name : never
}[UsageFieldName]

function isOperatorField(name: UsageFieldName): name is OperatorField {
  return USAGE_FIELDS[name].operatorOnly === true
}

/** Each lane of a key has a partition of its own for the rows of a day. */
export function keyDay(address: string, nowMs: number): string {
  return `${address}#${utcDay(nowMs)}`
}
