import { COUNTERS, CREDIT_COUNTERS, lossOf } from '../../gateway/domain/admission/counters.ts'
import { type CountedWindow, countedWindow, limitsOf, type Window } from '../../gateway/domain/admission/limits.ts'
import { DAY_MS, isoTime, utcDay } from '../../gateway/domain/basics/time.ts'
import { accountIdOf, type Hold, heldOf, isExpired, type Key } from '../../gateway/domain/keys/key.ts'
import { formatCredits, type Nano } from '../../gateway/domain/money/money.ts'
import { toldSettings } from '../settings/key-settings.ts'
import { creditTexts } from '../usage/usage-numbers.ts'
import type { HoldShape, KeyDetail, KeyShape, KeyStatus } from './shapes/keys.ts'

const IDLE_MS = 90 * DAY_MS

type Names = ReadonlyMap<string, string>

/** A key in a list: everything but hashes. `weekCost` is its charge of the last week. */
export function keyShape(key: Key, nowMs: number, weekCost: Nano, accounts: Names): KeyShape {
  const { purse, granted, available, spent } = key
  const previous = previousShape(key, nowMs)
  const [status, accountId = null] = [statusOf(key, nowMs), accountIdOf(key)]
  return {
    object: 'key',
    id: key.id,
    account_id: accountId,
    account_name: accounts.get(accountId ?? '') ?? null,
    adopted_at: timeOrNull(purse?.adoptedAtMs),
    ...toldSettings(key),
    status,
    account_suspended: status === 'suspended' && purse?.isWithAccount !== undefined,
    prefix: key.prefix,
    last_four: key.current.lastFour,
    previous: previous && { ...previous, last_used_at: timeOrNull(key.previous?.usedAtMs) },
    calls_today: Number(key.counts.dailyLimit[utcDay(nowMs)] ?? 0n),
    requests_open: Object.keys(key.holds).length,
    credit_windows: creditWindows(key, nowMs),
    ...creditTexts({ granted, available, held: heldOf(key), spent, loss_today: lossOf(key, nowMs) }),
    last_used_at: timeOrNull(key.lastUsedAtMs),
    created_at: isoTime(key.createdAtMs),
    version: key.version,
    badges: status === 'active' ? badgesOf(key, nowMs, weekCost) : [],
  }
}

export function previousShape({ previous }: Pick<Key, 'previous'>, nowMs: number) {
  if (!previous || previous.untilMs <= nowMs) return null
  return { last_four: previous.lastFour, expires_at: isoTime(previous.untilMs) }
}

/** An active key may have expired. A suspended one that has expired is shown as suspended, as callers are told. */
export function statusOf(key: Key, nowMs: number): KeyStatus {
  return isExpired(key, nowMs) && key.status === 'active' ? 'expired' : key.status
}

export function keyDetail(key: Key, nowMs: number, weekCost: Nano, accounts: Names): KeyDetail {
  const { rpm, daily } = limitsOf(key, nowMs)
  const tokens = countedWindow(key, 'tpm', nowMs)
  return {
    ...keyShape(key, nowMs, weekCost, accounts),
    minute: windowShape(rpm),
    day: windowShape(daily),
    tokens: tokens ? windowShape(tokens) : null,
    holds: Object.entries(key.holds).map(([requestId, hold]) => holdShape(requestId, hold, nowMs)),
  }
}

export function holdShape(requestId: string, { amount, untilMs }: Hold, nowMs: number): HoldShape {
  return { request_id: requestId, amount: formatCredits(amount), until: isoTime(untilMs), expired: untilMs <= nowMs }
}

function badgesOf(key: Key, nowMs: number, weekCost: Nano): string[] {
  const { available, lastUsedAtMs, createdAtMs, allowlist } = key
  return [
    ...(accountIdOf(key) ? [] : balanceBadges(available, weekCost)),
    ...((lastUsedAtMs ?? createdAtMs) <= nowMs - IDLE_MS ? ['idle'] : []),
    ...(allowlist.length === 0 ? ['no_allowlist'] : []),
  ]
}

export function balanceBadges(available: Nano, weekCost: Nano): string[] {
  if (available <= 0n) return ['empty']
  // At the rate of the last week it is spent within another.
  return available < weekCost ? ['low'] : []
}

function creditWindows(key: Key, nowMs: number) {
  return CREDIT_COUNTERS.flatMap((name) => {
    const window = countedWindow(key, name, nowMs)
    if (!window) return []
    return {
      setting: COUNTERS[name].api,
      limit: formatCredits(window.limit),
      remaining: formatCredits(window.remaining),
      reset_seconds: window.resetSeconds,
    }
  })
}

function windowShape({ limit, remaining, resetSeconds }: Window | CountedWindow) {
  return { limit: Number(limit), remaining: Number(remaining), reset_seconds: resetSeconds }
}

export function timeOrNull(ms: number | undefined): string | null {
  return ms === undefined ? null : isoTime(ms)
}
