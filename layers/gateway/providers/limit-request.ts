import type { JsonObject } from '../domain/basics/json-object.ts'
import { gainedBytes } from '../domain/basics/normal-forms.ts'
import type { ChatRequest } from '../domain/chat/chat.ts'
import { textBound } from '../domain/money/priced-request.ts'
import { UpstreamFailure } from '../domain/routing/upstream-failure.ts'
import { isObject } from '../wire/basics/field-rules.ts'
import { EFFORTS, VERBOSITIES } from '../wire/chat/chat-fields.ts'
import type { ChatCall, EmbedCall } from './provider.ts'
import { unsupported } from './verdict.ts'

export type AnyCall = ChatCall | EmbedCall

/** The places of a field in requests of all dialects, and what may stand there: a number up to `most`, or one of `words`. */
type Limit = {
  readonly at: readonly string[]
  /** Undefined for a call to which the limit does not apply. */
  readonly most?: (call: AnyCall) => number | undefined
  readonly words?: readonly string[]
  /** True if the operator cannot allow more. */
  readonly isOurs?: true
}

const cap = (call: AnyCall) => ('outputCap' in call ? call.outputCap : undefined)
/** Claude wants room for an answer after its thoughts. */
const belowCap = (call: AnyCall) => ('outputCap' in call ? call.outputCap - 1 : undefined)

/** Fields that raise a provider's bill. At Bedrock those of Claude are in `additionalModelRequestFields`. */
export const LIMITS: readonly Limit[] = [
  { at: ['max_tokens', 'max_completion_tokens', 'max_output_tokens'], most: cap, isOurs: true },
  { at: ['inferenceConfig.maxTokens'], most: cap, isOurs: true },
  { at: ['n', 'best_of'], most: ({ chat }) => chat.choices, isOurs: true },
  { at: ['thinking.budget_tokens', 'reasoning.max_tokens'], most: belowCap },
  { at: ['thinking_budget', 'chat_template_kwargs.thinking_budget', 'min_tokens'], most: cap },
  { at: ['dimensions', 'output_dimension'], most: (call) => ('dimensions' in call ? call.dimensions : undefined) },
  { at: ['reasoning_effort', 'reasoning.effort', 'chat_template_kwargs.reasoning_effort'], words: EFFORTS },
  { at: ['output_config.effort'], words: ['low', 'medium', 'high', 'xhigh', 'max'] },
  { at: ['verbosity', 'text.verbosity'], words: VERBOSITIES },
]

const PLACES = LIMITS.flatMap(({ at, ...limit }) => at.map((place) => ({ path: place.split('.'), limit })))

/** The request as it goes out: no field above its limit, no cache mark without a price, no more than was held for. */
export function limitRequest<Request extends object>(request: Request, call: AnyCall): Request {
  const isMarked = call.chat.asksCacheWrite && 'mayWriteCache' in call
  const fields = (isMarked ? withCacheMarks(request, call) : request) as JsonObject
  return requireHeld(limitFields(fields, call) as Request, call.chat)
}

function limitFields(fields: JsonObject, call: AnyCall): JsonObject {
  let limited = fields
  for (const { path, limit } of PLACES) {
    const [root = ''] = path
    if (limited[root] !== undefined && (limit.isOurs || !(root in call.extra)))
      limited = limitAt(limited, path, limit, call)
  }
  const { additionalModelRequestFields: more } = limited
  return isObject(more) ? { ...limited, additionalModelRequestFields: limitFields(more, call) } : limited
}

function limitAt(fields: JsonObject, path: readonly string[], limit: Omit<Limit, 'at'>, call: AnyCall): JsonObject {
  const [name = '', inner] = path
  const parent = inner === undefined ? fields : fields[name]
  const value = isObject(parent) ? parent[inner ?? name] : undefined
  if (limit.words && value !== undefined && value !== null && !limit.words.includes(value as string)) {
    throw unsupported(path.join('.'), `must be one of ${limit.words.join(', ')} with this model`)
  }
  const most = limit.most?.(call)
  if (most === undefined || typeof value !== 'number' || value <= most) return fields
  return { ...fields, [name]: inner === undefined ? most : { ...(parent as JsonObject), [inner]: most } }
}

export type CachePrices = Pick<ChatCall, 'mayWriteCache' | 'mayWriteCache1h'>

type CacheMark = { readonly type: 'ephemeral'; readonly ttl?: '1h' }

/** The mark that goes upstream for one of the caller's; none if cache writes have no price. */
export function cacheMarkOf(sent: unknown, { mayWriteCache, mayWriteCache1h }: CachePrices): CacheMark | undefined {
  if (!isObject(sent) || !mayWriteCache) return undefined
  return sent.ttl === '1h' && mayWriteCache1h ? { type: 'ephemeral', ttl: '1h' } : { type: 'ephemeral' }
}

/** A request with every `cache_control`, wherever it is, replaced by one whose price is known, or removed. */
function withCacheMarks(value: unknown, prices: CachePrices): unknown {
  if (Array.isArray(value)) return value.map((element) => withCacheMarks(element, prices))
  if (!isObject(value) || value instanceof Uint8Array) return value
  const { cache_control: sent, prompt_cache_breakpoint: point, prompt_cache_options: options, ...fields } = value
  for (const [name, field] of Object.entries(fields)) {
    if (!OWN_JSON.has(name) || !isObject(field)) fields[name] = withCacheMarks(field, prices)
  }
  const mark = cacheMarkOf(sent, prices)
  return {
    ...fields,
    ...(mark && { cache_control: mark }),
    ...(isObject(point) && prices.mayWriteCache && { prompt_cache_breakpoint: withLife(point, prices) }),
    ...(isObject(options) && prices.mayWriteCache && { prompt_cache_options: withLife(options, prices) }),
  }
}

/** A life longer than OpenAI's default has the price of an hour at Anthropic. */
function withLife({ ttl, ...rest }: JsonObject, { mayWriteCache1h }: CachePrices): JsonObject {
  return ttl === undefined || (ttl !== '30m' && !mayWriteCache1h) ? rest : { ...rest, ttl }
}

const OURS: ReadonlySet<string> = new Set([
  ...['model', 'modelId', 'stream', 'stream_options', 'store', 'include', 'inferenceConfig'],
])

/** Names of fields that contain a medium, or the address of one. */
const MEDIA: ReadonlySet<string> = new Set([
  ...['url', 'image_url', 'audio_url', 'video_url', 'file_url', 'file_data', 'bytes'],
])

/** Names of objects with JSON of the caller's own: a schema, the input of a tool. An address in them is text. */
const OWN_JSON: ReadonlySet<string> = new Set([
  ...['input', 'input_schema', 'parameters', 'schema', 'json', 'guided_json', 'json_schema'],
  ...['output_schema', 'arguments', 'annotations', 'filters'],
])

/** A list of such JSON. Responses has a list with the name `input`, too, and its media count. */
const OWN_LIST = 'input_examples'

/** Types of objects whose address is text, and not fetched for the prompt. */
const LINKS: ReadonlySet<unknown> = new Set([
  ...['web_search_result', 'web_fetch_result', 'web_search_result_location', 'search', 'open_page', 'find_in_page'],
])

/** Refuses a request whose names, texts, numbers or media are more than was held for, before anything is sent. */
export function requireHeld<Request extends object>(request: Request, chat: ChatRequest): Request {
  const { image, audio, video, file, any } = chat.media
  const left = { bytes: textBound(chat), media: image + audio + video + file + any }
  for (const [name, value] of Object.entries(request)) if (!OURS.has(name)) take(name, value, left)
  return request
}

type Left = { bytes: number; media: number }

const TOO_MUCH =
  "The request would become longer on its way to this model's provider than it came, and more than is held for it. Send calls, results and thoughts as they were in the answers."

function take(name: string, value: unknown, left: Left, isOwn = false): void {
  if (typeof value === 'string' || value instanceof Uint8Array) {
    left.bytes -= typeof value === 'string' ? mostBytes(value) : value.length
    if (!isOwn && MEDIA.has(name)) left.media -= 1
  } else if (typeof value === 'number') left.bytes -= String(value).length
  else if (Array.isArray(value)) for (const element of value) take('', element, left, isOwn || name === OWN_LIST)
  else if (typeof value === 'object' && value !== null) takeFields(name, value as JsonObject, left, isOwn)
  if (left.bytes < 0 || left.media < 0) throw new UpstreamFailure('rejected', TOO_MUCH)
}

function takeFields(of: string, fields: JsonObject, left: Left, isOwn: boolean): void {
  const isLink = LINKS.has(fields.type) || fields.tab_id !== undefined || fields.download_id !== undefined
  for (const name in fields) {
    left.bytes -= mostBytes(name)
    take(name, fields[name], left, isOwn || isLink || OWN_JSON.has(of))
  }
}

function mostBytes(text: string): number {
  return Buffer.byteLength(text) + gainedBytes(text)
}
