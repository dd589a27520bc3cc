import type { JsonObject } from '../../domain/basics/json-object.ts'
import type { Bill, ReportedUsage } from '../../domain/money/bill.ts'
import type { Nano } from '../../domain/money/money.ts'
import { CALLS, type CallQuantity, LIVES, type PartQuantity, WRITES } from '../../domain/money/price-kinds.ts'
import { isObject } from '../basics/field-rules.ts'
import { moneyLiteral } from './money-literal.ts'

type Count = Exclude<keyof ReportedUsage, 'cost' | CallQuantity> | 'cacheWrite5m'
type OursFirst = readonly [`prompt_tokens_details.${string}_tokens`, ...string[]]

/** The names of each count at all providers: in the usage object, or in an object inside it. The first is OpenAI's or ours. */
const NAMES: Readonly<Record<Count, readonly string[]> & Record<PartQuantity, OursFirst>> = {
  prompt: ['prompt_tokens', 'input_tokens', 'inputTokens'],
  completion: ['completion_tokens', 'output_tokens', 'outputTokens'],
  total: ['total_tokens', 'totalTokens'],
  cached: [
    'prompt_tokens_details.cached_tokens',
    'input_tokens_details.cached_tokens',
    'cache_read_input_tokens',
    'cacheReadInputTokens',
    'prompt_cache_hit_tokens',
  ],
  cacheWrite: [
    'prompt_tokens_details.cache_write_tokens',
    'prompt_tokens_details.cache_creation_tokens',
    'input_tokens_details.cache_write_tokens',
    'cache_creation_input_tokens',
    'cacheWriteInputTokens',
  ],
  cacheWrite5m: ['cache_creation.ephemeral_5m_input_tokens', 'cacheDetails.5m'],
  cacheWrite1h: [
    'prompt_tokens_details.cache_write_1h_tokens',
    'cache_creation.ephemeral_1h_input_tokens',
    'cacheDetails.1h',
  ],
  reasoning: [
    'completion_tokens_details.reasoning_tokens',
    'output_tokens_details.reasoning_tokens',
    'output_tokens_details.thinking_tokens',
    'reasoning_tokens',
  ],
}

const PATHS = Object.entries(NAMES).map(
  ([count, names]) => [count as Count, names.map((name) => name.split('.'))] as const,
)

const nameInDetails = (count: Count) => NAMES[count][0]?.split('.')[1] ?? count

/** More than any answer has, and still a number that every table and client can hold. */
const MOST_TOKENS = 10 ** 12
const MOST_ITERATIONS = 1_000

/** The number that costs more of several names counts. `isBeside`: tokens through a cache are beside the prompt. */
export function readUsage(usage: unknown, isBeside = false): ReportedUsage | undefined {
  if (!isObject(usage)) return undefined
  const { iterations } = usage
  const whole = readCounts(usage, isBeside)
  // Anthropic counts the last of several turns at the top, and bills all of them.
  const turns = Array.isArray(iterations) ? iterations.slice(0, MOST_ITERATIONS).filter(isObject) : []
  const sum = turns.map((turn) => readCounts(turn, isBeside)).reduce(addCounts, {})
  return { ...(tokensIn(sum) > tokensIn(whole) ? sum : whole), ...readCalls(usage), cost: statedCost(usage) }
}

/** Anthropic's and OpenRouter's form, in which the calls that are counted in other answers stand, too. */
export const CALL_COUNTS = 'server_tool_use'

function readCalls({ [CALL_COUNTS]: told }: JsonObject): { readonly [Name in CallQuantity]?: number } {
  if (!isObject(told)) return {}
  const counts = CALLS.map(({ quantity, calls }) => [quantity, countAt(told, [[calls]], false)])
  return Object.fromEntries(counts.filter(([, count]) => count !== undefined && !Number.isNaN(count)))
}

/** The calls of a usage, of those that were seen in the answer, and of both the larger number. */
export function withCalls(usage: JsonObject, seen: ReadonlyMap<string, number>): JsonObject {
  if (seen.size === 0) return usage
  const told = isObject(usage[CALL_COUNTS]) ? usage[CALL_COUNTS] : {}
  const larger = [...seen].map(([name, count]) => [name, Math.max(count, Number(told[name]) || 0)])
  return { ...usage, [CALL_COUNTS]: { ...told, ...Object.fromEntries(larger) } }
}

type Read = { readonly [Name in Count]?: number | undefined }

function readCounts(usage: JsonObject, isBeside: boolean): Read {
  const read: { [Name in Count]?: number | undefined } = {}
  for (const [count, paths] of PATHS) read[count] = countAt(usage, paths, count === 'cached')
  const { prompt, cached = 0, cacheWrite: written = 0 } = read
  const brief = read.cacheWrite5m || 0
  const lives = LIVES.reduce((sum, { quantity }) => sum + (read[quantity] || 0), brief)
  const all = Math.max(written, lives)
  const isTold = isBeside || read.cacheWrite5m !== undefined
  for (const life of LIVES) {
    // A token that is not said to stay for five minutes counts as one for the most expensive life.
    const unsaid = isTold && life === LIVES.at(-1) ? all - lives : 0
    if (lives > 0) read[life.quantity] = (read[life.quantity] || 0) + unsaid
    else if (isTold) read[life.quantity] = undefined
  }
  if (lives > 0) read.cacheWrite = all
  if (isBeside && prompt !== undefined) read.prompt = prompt + cached + all
  for (const [count] of PATHS) if (Number.isNaN(read[count])) read[count] = undefined
  return read
}

/** The largest count, or the smallest of cached tokens, which cost less. NaN if no value is a count. */
function countAt(usage: JsonObject, paths: readonly (readonly string[])[], isCheaper: boolean): number | undefined {
  let found: number | undefined
  for (const [outer = '', inner] of paths) {
    const part = usage[outer]
    const value = inner === undefined ? part : isObject(part) ? part[inner] : undefined
    if (value === undefined || value === null) continue
    const isCount = Number.isInteger(value) && (value as number) >= 0
    const count = isCount ? Math.min(value as number, MOST_TOKENS) : Number.NaN
    if (found === undefined || Number.isNaN(found)) found = count
    else if (isCount) found = isCheaper ? Math.min(found, count) : Math.max(found, count)
  }
  return found
}

/** A count that neither has stays unknown: as 0, an unknown life in the cache would be the cheaper one. */
function addCounts(one: Read, other: Read): Read {
  const names = new Set([...Object.keys(one), ...Object.keys(other)]) as Set<Count>
  const sum = (a: number | undefined, b: number | undefined) => (a === undefined ? b : a + (b ?? 0))
  return Object.fromEntries([...names].map((name) => [name, sum(one[name], other[name])]))
}

const tokensIn = ({ prompt = 0, completion = 0 }: Read) => prompt + completion

/** The usage of any provider in OpenAI's format. A count that is none is left out, and estimated. */
export function toOpenAiUsage(usage: JsonObject, isBeside = false): JsonObject {
  const { prompt, completion, total, reasoning, ...cache } = readUsage(usage, isBeside) ?? {}
  const sum = prompt === undefined || completion === undefined ? undefined : prompt + completion
  return {
    ...defined({ prompt_tokens: prompt, completion_tokens: completion, total_tokens: isBeside ? sum : total }),
    prompt_tokens_details: {
      cached_tokens: cache.cached ?? 0,
      ...(cache.cacheWrite &&
        defined(Object.fromEntries(WRITES.map(({ quantity }) => [nameInDetails(quantity), cache[quantity]])))),
    },
    ...(reasoning !== undefined && { completion_tokens_details: { reasoning_tokens: reasoning } }),
    ...(isObject(usage[CALL_COUNTS]) && { [CALL_COUNTS]: usage[CALL_COUNTS] }),
    ...costFields(usage),
  }
}

function defined(fields: JsonObject): JsonObject {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined))
}

/** The counts of a later usage object complete those of an earlier one; of two numbers the larger one stands. */
export function mergeUsage(soFar: unknown, later: unknown): unknown {
  if (!isObject(soFar) || !isObject(later)) return isObject(soFar) ? soFar : later
  const merged: Record<string, unknown> = { ...soFar, ...later }
  for (const name in soFar) {
    const [before, after] = [soFar[name], later[name]]
    if (after === undefined || after === null) merged[name] = before
    else if (typeof before === 'number' && typeof after === 'number') merged[name] = Math.max(before, after)
  }
  return merged
}

/** The usage that a caller is told: the billed counts, the upstream's finer ones if its counts were used, and the cost. */
export function writeUsage(bill: Bill, reported: unknown): Record<string, unknown> {
  const details = bill.source === 'upstream' && isObject(reported) ? reported : {}
  const { prompt, cached, completion } = bill.quantities
  const completionDetails = details.completion_tokens_details
  return {
    prompt_tokens: prompt,
    completion_tokens: completion,
    total_tokens: prompt + completion,
    prompt_tokens_details: { ...tokenCounts(details.prompt_tokens_details), cached_tokens: cached },
    ...(isObject(completionDetails) && { completion_tokens_details: tokenCounts(completionDetails) }),
    cost: moneyLiteral(bill.cost),
  }
}

/** The calls that were charged. */
export function writeCalls({ quantities }: Pick<Bill, 'quantities'>): JsonObject {
  const counts = CALLS.flatMap(({ quantity, calls }) =>
    quantities[quantity] > 0 ? [[calls, quantities[quantity]]] : [],
  )
  return counts.length > 0 ? { [CALL_COUNTS]: Object.fromEntries(counts) } : {}
}

/** Token counts only: the caller is not told the upstream's bill. */
function tokenCounts(details: unknown): Record<string, unknown> {
  const counts = isObject(details) ? Object.entries(details) : []
  return Object.fromEntries(counts.filter(([name]) => name.endsWith('_tokens')))
}

/** A credit counts as a US dollar where providers state their cost. */
const NANO_PLACES = 9
/** xAI's tick is a ten-thousand-millionth of a dollar. */
const TICK_PLACES = 10
/** More than any answer costs: a million credits. */
const MOST_NANO = 10n ** 15n
const MOST_CHARS = 40
const DECIMAL = /^(\d+)(?:\.(\d+))?(?:e([+-]\d+))?$/

/** A field of the usage object, or a part of it, and the number of decimals of a nanocredit in its unit. */
type Way = { readonly field: string; readonly part?: string; readonly places: number }

/** The ways in which providers state the cost of an answer: OpenRouter, Perplexity, DeepInfra, xAI. */
const WAYS: readonly Way[] = [
  { field: 'cost', places: NANO_PLACES },
  { field: 'cost', part: 'total_cost', places: NANO_PLACES },
  { field: 'estimated_cost', places: NANO_PLACES },
  { field: 'cost_in_usd_ticks', places: NANO_PLACES - TICK_PLACES },
]

/** The flag by which OpenRouter tells that its cost is its fee alone, and that the model's maker bills the rest. */
const FEE_ONLY = 'is_byok'
export const COST_FIELDS: readonly string[] = [...new Set(WAYS.map(({ field }) => field)), FEE_ONLY]

export function statedCost(usage: JsonObject): Nano | undefined {
  if (usage[FEE_ONLY] === true) return undefined
  for (const { field, part, places } of WAYS) {
    const value = usage[field]
    const cost = nanoOf(part !== undefined && isObject(value) ? value[part] : value, places)
    if (cost !== undefined) return cost
  }
  return undefined
}

export function costFields(usage: JsonObject): JsonObject {
  return Object.fromEntries(COST_FIELDS.flatMap((name) => (usage[name] == null ? [] : [[name, usage[name]]])))
}

function nanoOf(value: unknown, places: number): Nano | undefined {
  if (typeof value !== 'number' && typeof value !== 'string') return undefined
  const text = String(value)
  const match = text.length <= MOST_CHARS ? DECIMAL.exec(text) : null
  if (!match) return undefined
  const [, whole = '', fraction = '', exponent = '0'] = match
  // Beyond these bounds a number is too small to matter, or more than the most.
  const shift = Math.max(-2 * MOST_CHARS, Math.min(2 * MOST_CHARS, places - fraction.length + Number(exponent)))
  const divisor = 10n ** BigInt(Math.max(0, -shift))
  const nano = (BigInt(whole + fraction) * 10n ** BigInt(Math.max(0, shift)) + divisor - 1n) / divisor
  return nano <= MOST_NANO ? nano : undefined
}
