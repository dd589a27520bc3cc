import { COUNTER_NAMES, COUNTERS, type Counter } from '../../domain/admission/counters.ts'
import { type CountedWindow, countedWindow, type Limits, limitsOf, type Window } from '../../domain/admission/limits.ts'
import { GatewayError } from '../../domain/basics/gateway-error.ts'
import type { AccountBalance } from '../../domain/keys/account.ts'
import { heldOf, type Key, planOf, standingOf } from '../../domain/keys/key.ts'
import { formatCredits, type Nano } from '../../domain/money/money.ts'
import { moneyLiteral } from '../money/money-literal.ts'

/** The key as its holder sees it, with its account. The introspecting request itself is not counted. */
export function introspection(key: Key, hash: string, requestId: string, nowMs: number, shared?: AccountBalance) {
  const account = shared ? accountBody(shared) : null
  const limits = limitsOf(key, nowMs)
  const inGrace = standingOf(key, hash, nowMs) === 'grace'
  const secret = inGrace && key.previous ? key.previous : key.current
  const ends = [inGrace ? key.previous?.untilMs : undefined, key.expiresAtMs].filter((ms) => ms !== undefined)
  const inUse = Object.keys(key.holds).filter((id) => id !== requestId).length
  return {
    object: 'api_key',
    id: key.id,
    name: key.name,
    status: key.status,
    scopes: key.scopes,
    balance: account ? account.balance : formatCredits(key.available),
    held: formatCredits(heldOf(key)),
    spent: formatCredits(key.spent),
    account,
    key: {
      prefix: key.prefix,
      last_four: secret.lastFour,
      state: inGrace ? 'grace' : 'current',
      expires_at: ends.length > 0 ? Math.floor(Math.min(...ends) / 1000) : null,
    },
    limits: {
      rpm: windowBody(limits.rpm),
      daily: windowBody(limits.daily),
      concurrent: { limit: key.maxConcurrent, in_use: inUse },
      ...optionalLimits(key, nowMs),
    } satisfies Record<keyof Limits | 'concurrent', unknown>,
    plan: planOf(key) ?? null,
    models: key.models,
    allowlist: key.allowlist,
    created_at: Math.floor(key.createdAtMs / 1000),
  }
}

/** The limits that bound the output of a request, of which a key may have none. */
export const OUTPUT_LIMITS = COUNTER_NAMES.filter((name) => ['credits', 'tokens'].includes(COUNTERS[name].counts))

function optionalLimits(key: Key, nowMs: number): Record<string, object | null> {
  const windows = OUTPUT_LIMITS.map((name) => [
    COUNTERS[name].api,
    countedBody(COUNTERS[name], countedWindow(key, name, nowMs)),
  ])
  return Object.fromEntries(windows)
}

function countedBody({ counts }: Counter, window: CountedWindow | undefined) {
  if (!window) return null
  const told = counts === 'credits' ? formatCredits : Number
  const { limit, remaining, resetSeconds } = window
  return { limit: told(limit), remaining: told(remaining), reset: resetSeconds }
}

function windowBody({ limit, remaining, resetSeconds }: Window) {
  return { limit, remaining, reset: resetSeconds }
}

function accountBody({ account: { id, name, hidesBalance, showsStatements = false }, balance }: AccountBalance) {
  const told = (nano: Nano) => (hidesBalance ? null : formatCredits(nano))
  return {
    id,
    name,
    balance: told(balance.available),
    held: told(balance.held),
    spent: told(balance.spent),
    shows_statements: showsStatements,
  }
}

/** OpenRouter's clients take two numbers, or the 403 that it has for keys which may not see the credits of an account. */
export function creditsOf(key: Key, shared?: AccountBalance) {
  if (shared?.account.hidesBalance)
    throw new GatewayError(
      'insufficient_scope',
      'The balance of the account is not told to its keys. GET /v1/key/introspect has what this key was charged.',
    )
  const { granted, spent } = shared?.balance ?? key
  return { data: { total_credits: moneyLiteral(granted), total_usage: moneyLiteral(spent) } }
}
