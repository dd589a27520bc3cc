import { isObject } from '../../wire/field-rules.ts'

type Fields = Readonly<Record<string, unknown>>

const COUNTS = [
  'input_tokens',
  'cache_read_input_tokens',
  'cache_creation_input_tokens',
  'output_tokens',
  'output_tokens_details',
] as const

/** The counts that are read; the last that was said of each holds, and null stands for what did not change. */
export type AnthropicCounts = { readonly [Name in (typeof COUNTS)[number]]?: unknown }

export function mergeCounts(soFar: AnthropicCounts, usage: unknown): AnthropicCounts {
  const reported: Fields = isObject(usage) ? usage : {}
  return Object.fromEntries(COUNTS.map((name) => [name, reported[name] ?? soFar[name]]))
}

/** OpenAI counts what was read from a cache and written to one as part of the prompt. */
export function toUsage(counts: AnthropicCounts): Fields {
  const { cache_read_input_tokens: read = 0, cache_creation_input_tokens: written = 0, output_tokens_details } = counts
  const prompt = countOf(counts.input_tokens) + countOf(read) + countOf(written)
  const thinking = isObject(output_tokens_details) ? output_tokens_details.thinking_tokens : undefined
  return {
    prompt_tokens: prompt,
    completion_tokens: counts.output_tokens,
    total_tokens: prompt + countOf(counts.output_tokens),
    prompt_tokens_details: { cached_tokens: read, ...(written !== 0 && { cache_write_tokens: written }) },
    ...(Number.isSafeInteger(thinking) && { completion_tokens_details: { reasoning_tokens: thinking } }),
  }
}

/** A value that is no count makes the sum NaN, so that the bill is estimated. */
function countOf(value: unknown): number {
  return Number.isSafeInteger(value) && (value as number) >= 0 ? (value as number) : Number.NaN
}
