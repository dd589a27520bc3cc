import { type Hold, heldOf, type Key } from '../../layers/gateway/domain/key.ts'
import { limitsOf, type Window } from '../../layers/gateway/domain/limits.ts'
import { formatCredits, type Nano } from '../../layers/gateway/domain/money.ts'
import { keyView } from '../key-view.ts'
import type { HoldShape, KeyDetail, KeyShape, WindowShape } from './shapes.ts'

const IDLE_MS = 90 * 24 * 60 * 60 * 1000

/** A key in a list. `weekCost` is what it was charged in the last week. */
export function keyShape(key: Key, nowMs: number, weekCost: Nano): KeyShape {
  const view = keyView(key, nowMs)
  return {
    object: 'key',
    id: view.id,
    name: view.name,
    status: view.status,
    prefix: view.prefix,
    last_four: view.lastFour,
    previous:
      view.previousUntil === undefined
        ? null
        : {
            last_four: view.previousLastFour ?? '',
            expires_at: view.previousUntil,
            last_used_at: view.previousUsedAt ?? null,
          },
    scopes: view.scopes,
    allowlist: view.allowlist,
    rpm: view.rpm,
    daily_limit: view.dailyLimit,
    max_concurrent: view.maxConcurrent,
    requests_today: view.requestsToday,
    requests_open: view.requestsOpen,
    granted: formatCredits(view.granted),
    available: formatCredits(view.available),
    held: formatCredits(heldOf(key)),
    spent: formatCredits(view.spent),
    external_id: view.externalId ?? null,
    expires_at: view.expiresAt ?? null,
    note: view.note ?? null,
    last_used_at: view.lastUsedAt ?? null,
    created_at: new Date(key.createdAtMs).toISOString(),
    version: view.version,
    badges: view.status === 'active' ? badgesOf(key, nowMs, weekCost) : [],
  }
}

export function keyDetail(key: Key, nowMs: number, weekCost: Nano): KeyDetail {
  const { rpm, daily } = limitsOf(key, nowMs)
  return {
    ...keyShape(key, nowMs, weekCost),
    minute: windowShape(rpm),
    day: windowShape(daily),
    holds: Object.entries(key.holds).map(([requestId, hold]) => holdShape(requestId, hold, nowMs)),
  }
}

export function holdShape(requestId: string, { amount, untilMs }: Hold, nowMs: number): HoldShape {
  return {
    request_id: requestId,
    amount: formatCredits(amount),
    until: new Date(untilMs).toISOString(),
    expired: untilMs <= nowMs,
  }
}

/** Whether a key spends its rest within a week, if it goes on like this. */
export function isLow({ available }: Pick<Key, 'available'>, weekCost: Nano): boolean {
  return available > 0n && available < weekCost
}

function badgesOf(key: Key, nowMs: number, weekCost: Nano): string[] {
  const { available, lastUsedAtMs, createdAtMs, allowlist } = key
  return [
    ...(available <= 0n ? ['empty'] : []),
    ...(isLow(key, weekCost) ? ['low'] : []),
    ...((lastUsedAtMs ?? createdAtMs) <= nowMs - IDLE_MS ? ['idle'] : []),
    ...(allowlist.length === 0 ? ['no_allowlist'] : []),
  ]
}

function windowShape({ limit, remaining, resetSeconds }: Window): WindowShape {
  return { limit, remaining, reset_seconds: resetSeconds }
}
