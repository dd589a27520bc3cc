import { heldOf, isExpired, type Key, type KeySettings } from '../layers/gateway/domain/key.ts'
import { utcDay } from '../layers/gateway/domain/limits.ts'

/** A key as an operator sees it: everything but hashes. */
export function keyView(key: Key, nowMs: number) {
  const { previous } = key
  const inGrace = previous && previous.untilMs > nowMs ? previous : undefined
  return {
    id: key.id,
    name: key.name,
    status: isExpired(key, nowMs) && key.status === 'active' ? ('expired' as const) : key.status,
    prefix: key.prefix,
    lastFour: key.current.lastFour,
    previousLastFour: inGrace?.lastFour,
    previousUntil: inGrace && timeOf(inGrace.untilMs),
    previousUsedAt: timeOf(inGrace?.usedAtMs),
    externalId: key.externalId,
    expiresAt: timeOf(key.expiresAtMs),
    note: key.note,
    scopes: key.scopes,
    allowlist: key.allowlist,
    rpm: key.rpm,
    dailyLimit: key.dailyLimit,
    maxConcurrent: key.maxConcurrent,
    requestsToday: key.days[utcDay(nowMs)] ?? 0,
    requestsOpen: Object.keys(key.holds).length,
    granted: key.granted,
    available: key.available,
    held: heldOf(key),
    spent: key.spent,
    version: key.version,
    createdAt: timeOf(key.createdAtMs),
    lastUsedAt: timeOf(key.lastUsedAtMs),
  } satisfies Omit<KeySettings, 'expiresAtMs'> & Record<string, unknown>
}

function timeOf(ms: number | undefined): string | undefined {
  return ms === undefined ? undefined : new Date(ms).toISOString()
}
