import type { Bill, ReportedUsage } from '../domain/bill.ts'
import { isObject } from './field-rules.ts'
import { moneyLiteral } from './money-literal.ts'
import { statedCost } from './stated-cost.ts'

/** The counts in OpenAI's usage object, not checked yet. Cache writes have several names. */
export function readUsage(usage: unknown): ReportedUsage | undefined {
  if (!isObject(usage)) return undefined
  const prompt = isObject(usage.prompt_tokens_details) ? usage.prompt_tokens_details : {}
  const completion = isObject(usage.completion_tokens_details) ? usage.completion_tokens_details : {}
  return {
    prompt: usage.prompt_tokens,
    completion: usage.completion_tokens,
    total: usage.total_tokens,
    cached: prompt.cached_tokens,
    cacheWrite: prompt.cache_write_tokens ?? prompt.cache_creation_tokens ?? usage.cache_creation_input_tokens,
    cacheWrite1h: prompt.cache_write_1h_tokens,
    reasoning: completion.reasoning_tokens,
    cost: statedCost(usage),
  }
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
    prompt_tokens_details: {
      ...tokenCounts(details.prompt_tokens_details),
      cached_tokens: cached,
    },
    ...(isObject(completionDetails) && { completion_tokens_details: tokenCounts(completionDetails) }),
    cost: moneyLiteral(bill.cost),
  }
}

/** Token counts only: the caller is not told the upstream's bill. */
function tokenCounts(details: unknown): Record<string, unknown> {
  const counts = isObject(details) ? Object.entries(details) : []
  return Object.fromEntries(counts.filter(([name]) => name.endsWith('_tokens')))
}
