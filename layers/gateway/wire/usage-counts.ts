import type { Bill, ReportedTokens } from '../domain/bill.ts'
import { formatCredits } from '../domain/money.ts'
import { isObject } from './field-rules.ts'

/** The counts in OpenAI's usage object, of unknown worth. */
export function readUsage(usage: unknown): ReportedTokens | undefined {
  if (!isObject(usage)) return undefined
  const details = isObject(usage.prompt_tokens_details) ? usage.prompt_tokens_details : {}
  return { prompt: usage.prompt_tokens, completion: usage.completion_tokens, cached: details.cached_tokens }
}

/** What the caller is told: the billed counts, the upstream's details if its counts were used, and the cost. */
export function writeUsage(bill: Bill, reported: unknown): Record<string, unknown> {
  const details = bill.source === 'upstream' && isObject(reported) ? reported : {}
  return {
    prompt_tokens: bill.tokens.prompt,
    completion_tokens: bill.tokens.completion,
    total_tokens: bill.tokens.prompt + bill.tokens.completion,
    prompt_tokens_details: {
      ...(isObject(details.prompt_tokens_details) ? details.prompt_tokens_details : {}),
      cached_tokens: bill.tokens.cached,
    },
    ...(isObject(details.completion_tokens_details) && {
      completion_tokens_details: details.completion_tokens_details,
    }),
    cost: formatCredits(bill.cost),
  }
}
