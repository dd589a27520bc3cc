import type { JsonObject } from '../../domain/json-object.ts'
import { isObject } from '../../wire/field-rules.ts'
import { costFields } from '../../wire/stated-cost.ts'

/** The counts in the format of Chat Completions, not checked yet. */
export function toUsage(usage: JsonObject): JsonObject {
  const { input_tokens_details: input, output_tokens_details: output } = usage
  const { cached_tokens: cached, cache_write_tokens: written } = isObject(input) ? input : {}
  const thinking = isObject(output) ? output.reasoning_tokens : undefined
  return {
    prompt_tokens: usage.input_tokens,
    completion_tokens: usage.output_tokens,
    total_tokens: usage.total_tokens,
    ...(cached !== undefined && {
      prompt_tokens_details: { cached_tokens: cached, ...(written ? { cache_write_tokens: written } : {}) },
    }),
    ...(thinking !== undefined && { completion_tokens_details: { reasoning_tokens: thinking } }),
    ...costFields(usage),
  }
}
