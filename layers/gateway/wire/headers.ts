import type { Key } from '../domain/key.ts'
import { limitsOf, tightestWindow } from '../domain/limits.ts'
import { formatCredits, type Nano } from '../domain/money.ts'
import type { Attempt } from '../domain/usage-row.ts'

export type Headers = Record<string, string>

export function rateLimitHeaders(key: Key, nowMs: number): Headers {
  const window = tightestWindow(limitsOf(key, nowMs))
  const limit = String(window.limit)
  const remaining = String(window.remaining)
  return {
    'RateLimit-Limit': limit,
    'RateLimit-Remaining': remaining,
    'RateLimit-Reset': String(window.resetSeconds),
    'x-ratelimit-limit-requests': limit,
    'x-ratelimit-remaining-requests': remaining,
    'x-ratelimit-reset-requests': duration(window.resetSeconds),
  }
}

/** As OpenAI writes it, which is Go's way: `6s`, `1m0s`, `12h28m54s`. */
function duration(seconds: number): string {
  if (seconds < 60) return `${seconds}s`
  const [hours, minutes] = [Math.floor(seconds / 3600), Math.floor(seconds / 60) % 60]
  return `${hours > 0 ? `${hours}h` : ''}${minutes}m${seconds % 60}s`
}

export function costHeader(prefix: string, cost: Nano): Headers {
  return { [`${prefix}Cost`]: formatCredits(cost) }
}

/** `openai=status 500, openrouter=ok`. */
export function attemptsHeader(prefix: string, attempts: readonly Attempt[]): Headers {
  return { [`${prefix}Attempts`]: attempts.map(({ provider, result }) => `${provider}=${result}`).join(', ') }
}

export function replayedHeader(prefix: string): Headers {
  return { [`${prefix}Replayed`]: 'true' }
}

export function providerHeader(prefix: string, provider: string): Headers {
  return { [`${prefix}Provider`]: provider }
}

export function loweredHeader(prefix: string, maxTokens: number): Headers {
  return { [`${prefix}Lowered-Max-Tokens`]: String(maxTokens) }
}

const MOST_NAMED = 16
const NAME = /^[\w.-]{1,64}$/

/** The caller's own names, and not all of them are fit for a header. */
export function droppedFieldsHeader(prefix: string, fields: readonly string[]): Headers {
  const named = fields.filter((name) => NAME.test(name)).slice(0, MOST_NAMED)
  const more = fields.length - named.length
  return { [`${prefix}Dropped-Fields`]: [...named, ...(more > 0 ? [`and ${more} more`] : [])].join(', ') }
}
