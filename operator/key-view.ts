import { heldOf, type Key, type KeySettings } from '../layers/gateway/domain/key.ts'
import { utcDay } from '../layers/gateway/domain/limits.ts'

/** A key as an operator sees it: everything but hashes. */
export function keyView(key: Key, nowMs: number) {
  const { previous } = key
  const inGrace = previous && previous.untilMs > nowMs ? previous : undefined
  return {
    id: key.id,
    name: key.name,
    status: key.status,
    prefix: key.prefix,
    lastFour: key.current.lastFour,
    previousLastFour: inGrace?.lastFour,
    previousUntil: inGrace && new Date(inGrace.untilMs).toISOString(),
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
    createdAt: new Date(key.createdAtMs).toISOString(),
  } satisfies KeySettings & Record<string, unknown>
}
