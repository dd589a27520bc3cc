import {
  type CountedWindow,
  countedWindow,
  limitsOf,
  tightestWindow,
  type Window,
} from '../../domain/admission/limits.ts'
import type { Key } from '../../domain/keys/key.ts'
import type { Attempt } from '../../domain/rows/usage-row.ts'

export type Headers = Record<string, string>

const OWN = {
  attempts: 'Attempts',
  cost: 'Cost',
  dropped: 'Dropped-Fields',
  lowered: 'Lowered-Max-Tokens',
  provider: 'Provider',
  replayed: 'Replayed',
}
export type OwnNames = Readonly<typeof OWN>

export function ownNames(prefix: string): OwnNames {
  return Object.fromEntries(Object.entries(OWN).map(([name, header]) => [name, prefix + header])) as OwnNames
}

export function addRateLimits(headers: Headers, key: Key, nowMs: number): void {
  const window = tightestWindow(limitsOf(key, nowMs))
  headers['RateLimit-Limit'] = String(window.limit)
  headers['RateLimit-Remaining'] = String(window.remaining)
  headers['RateLimit-Reset'] = String(window.resetSeconds)
  addWindow(headers, 'requests', window)
  const tokens = countedWindow(key, 'tpm', nowMs)
  if (tokens) addWindow(headers, 'tokens', tokens)
}

export const windowHeaders = (what: 'requests' | 'tokens') =>
  ['limit', 'remaining', 'reset'].map((name) => `x-ratelimit-${name}-${what}`)

/** Under OpenAI's names. */
function addWindow(
  headers: Headers,
  what: 'requests' | 'tokens',
  { limit, remaining, resetSeconds }: Window | CountedWindow,
) {
  const values = [String(limit), String(remaining), duration(resetSeconds)]
  windowHeaders(what).forEach((name, i) => {
    headers[name] = values[i] as string
  })
}

/** Go's notation, as OpenAI writes it: `6s`, `1m0s`, `12h28m54s`. */
function duration(seconds: number): string {
  if (seconds < 60) return `${seconds}s`
  const [hours, minutes] = [Math.floor(seconds / 3600), Math.floor(seconds / 60) % 60]
  return `${hours > 0 ? `${hours}h` : ''}${minutes}m${seconds % 60}s`
}

/** `openai=status 500, openrouter=ok`. */
export function attemptsText(attempts: readonly Attempt[]): string {
  return attempts.map(({ provider, result }) => `${provider}=${result}`).join(', ')
}

const MOST_NAMED = 16
const NAME = /^[\w.[\]-]{1,64}$/

/** The names are the caller's own, and not all of them may stand in a header. */
export function droppedFieldsText(fields: readonly string[]): string {
  const named = fields.filter((name) => NAME.test(name)).slice(0, MOST_NAMED)
  const more = fields.length - named.length
  return [...named, ...(more > 0 ? [`and ${more} more`] : [])].join(', ')
}
