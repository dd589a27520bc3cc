import type { Key } from '../domain/key.ts'
import { limitsOf, tightestWindow } from '../domain/limits.ts'
import { formatCredits, type Nano } from '../domain/money.ts'
import type { Attempt } from '../domain/usage-row.ts'

export type Headers = Record<string, string>

export function rateLimitHeaders(key: Key, nowMs: number): Headers {
  const window = tightestWindow(limitsOf(key, nowMs))
  return {
    'RateLimit-Limit': String(window.limit),
    'RateLimit-Remaining': String(window.remaining),
    'RateLimit-Reset': String(window.resetSeconds),
  }
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

const MOST_NAMED = 16
const NAME = /^[\w.-]{1,64}$/

/** The caller's own names, and not all of them are fit for a header. */
export function droppedFieldsHeader(prefix: string, fields: readonly string[]): Headers {
  const named = fields.filter((name) => NAME.test(name)).slice(0, MOST_NAMED)
  const more = fields.length - named.length
  return { [`${prefix}Dropped-Fields`]: [...named, ...(more > 0 ? [`and ${more} more`] : [])].join(', ') }
}
