import type { JsonObject } from '../../domain/json-object.ts'
import { cacheWriteCounts, cacheWrites } from '../../wire/cache-writes.ts'
import { isObject } from '../../wire/field-rules.ts'
import { COST_FIELDS, costFields } from '../../wire/stated-cost.ts'

const COUNTS = [
  'input_tokens',
  'cache_read_input_tokens',
  'cache_creation_input_tokens',
  'cache_creation',
  'output_tokens',
  'output_tokens_details',
  'service_tier',
] as const

const READ: readonly string[] = [...COUNTS, ...COST_FIELDS]

/** The counts that are read; the last value of each holds, and null means no change. */
export type AnthropicCounts = { readonly [Name in (typeof COUNTS)[number]]?: unknown } & JsonObject

export function mergeCounts(soFar: AnthropicCounts, usage: unknown): AnthropicCounts {
  const reported: JsonObject = isObject(usage) ? usage : {}
  return Object.fromEntries(READ.map((name) => [name, reported[name] ?? soFar[name]]))
}

/** OpenAI counts tokens read from a cache and written to one as part of the prompt. */
export function toUsage(counts: AnthropicCounts): JsonObject {
  const { cache_read_input_tokens: read = 0, cache_creation_input_tokens: total = 0, output_tokens_details } = counts
  const written = cacheWrites(countOf(total), livesOf(counts.cache_creation))
  const prompt = countOf(counts.input_tokens) + countOf(read) + written.all
  const thinking = isObject(output_tokens_details) ? output_tokens_details.thinking_tokens : undefined
  return {
    prompt_tokens: prompt,
    completion_tokens: counts.output_tokens,
    total_tokens: prompt + countOf(counts.output_tokens),
    prompt_tokens_details: { cached_tokens: read, ...cacheWriteCounts(written) },
    ...(Number.isSafeInteger(thinking) && { completion_tokens_details: { reasoning_tokens: thinking } }),
    ...costFields(counts),
  }
}

function livesOf(creation: unknown) {
  if (!isObject(creation)) return {}
  return { fiveMinutes: creation.ephemeral_5m_input_tokens, hour: creation.ephemeral_1h_input_tokens }
}

/** A value that is no count makes the sum NaN, so that the bill is estimated. */
function countOf(value: unknown): number {
  return Number.isSafeInteger(value) && (value as number) >= 0 ? (value as number) : Number.NaN
}
