import type { z } from 'zod'
import { DAY_MS, isoTime, MINUTE_MS, utcDay } from '../../gateway/domain/basics/time.ts'
import { expiredHolds, type Key } from '../../gateway/domain/keys/key.ts'
import { formatCredits, type Nano } from '../../gateway/domain/money/money.ts'
import { momentsOf } from '../../gateway/domain/rows/closed-day.ts'
import { SWEEP_EVERY_MINUTES } from '../../gateway/names.ts'
import { readLastAudit } from '../../gateway/store/keys/last-audit.ts'
import { newestKeys } from '../../gateway/store/sdk/newest-keys.ts'
import { type ReadUsage, usageReader } from '../usage/usage-reader.ts'
import { latestRowMs } from '../usage/usage-rows.ts'
import { weekCosts } from '../usage/week-costs.ts'
import type { Answer, Call } from './call.ts'
import { keyShape, statusOf } from './key-shape.ts'
import { rangesOf } from './overview-ranges.ts'
import { routesNow } from './routes.ts'
import type { KeyStatus } from './shapes/keys.ts'
import type { overviewQuery } from './shapes/queries.ts'
import type { Overview } from './shapes/usage.ts'

const LOW_SHOWN = 5
const DEAD_SHOWN = 20
/** Three sweeps may fail before an alarm goes off. */
const LATE_MS = 3 * SWEEP_EVERY_MINUTES * MINUTE_MS

export async function getOverview(call: Call, sent: z.output<typeof overviewQuery>): Promise<Answer> {
  const { tables, nowMs } = call
  const read = usageReader(tables)
  const [keys, week, costs, lastAudit, routes, ranges] = await Promise.all([
    Array.fromAsync(newestKeys(tables)()),
    lastSevenDays(read, nowMs),
    weekCosts(tables, nowMs, read),
    readLastAudit(tables)(),
    routesNow(call, read),
    rangesOf(read, sent, nowMs),
  ])
  const statuses = keys.map((key) => statusOf(key, nowMs))
  const countOf = (status: KeyStatus) => statuses.filter((one) => one === status).length
  const names = new Map(keys.map(({ id, name }) => [id, name]))
  const body: Overview = {
    object: 'overview',
    ...ranges,
    top_keys: ranges.top_keys.map((entry) => ({ ...entry, name: names.get(entry.id) ?? entry.id })),
    spent_today: formatCredits(week.spentToday),
    spent_7_days: formatCredits(week.spent),
    requests_today: week.requestsToday,
    errors: [...week.errors]
      .map(([code, requests]) => ({ code, requests }))
      .sort((a, b) => b.requests - a.requests || (a.code < b.code ? -1 : 1)),
    keys: {
      active: countOf('active'),
      suspended: countOf('suspended'),
      expired: countOf('expired'),
      revoked: countOf('revoked'),
    },
    low: firstToRunDry(keys, costs, nowMs).map((key) => keyShape(key, nowMs, costs.get(key.id) ?? 0n)),
    dead_requests: deadRequests(keys, nowMs),
    last_audit: lastAudit ? { at: isoTime(lastAudit.atMs), keys: lastAudit.keys, wrong: lastAudit.wrong } : null,
    routes,
  }
  return { body }
}

/** Today and the six days before it; the errors of today and yesterday. */
async function lastSevenDays(read: ReadUsage, nowMs: number) {
  const [today, yesterday] = [nowMs, nowMs - DAY_MS].map((ms) => momentsOf(utcDay(ms)).fromMs) as [number, number]
  const range = { fromMs: today - 6 * DAY_MS, toMs: latestRowMs(nowMs) }
  const errors = new Map<string, number>()
  let [spent, spentToday, requestsToday] = [0n, 0n, 0]
  for await (const { atMs, sum } of read(range, 'models', 'days')) {
    for (const part of sum.models.values()) {
      spent += part.cost
      if (atMs >= today) {
        spentToday += part.cost
        requestsToday += part.requests
      }
      if (atMs < yesterday) continue
      for (const [code, count] of Object.entries(part.errors)) errors.set(code, (errors.get(code) ?? 0) + count)
    }
  }
  return { spent, spentToday, requestsToday, errors }
}

/** Requests that died, and that the sweep should have settled by now. */
function deadRequests(keys: readonly Key[], nowMs: number): string[] {
  const dead = keys.flatMap((key) => expiredHolds(key, nowMs - LATE_MS))
  return dead.slice(0, DEAD_SHOWN).map(({ requestId }) => requestId)
}

/** The active keys that spend their balance within a week at the last week's rate, or have none; the first to run dry first. */
export function firstToRunDry(keys: readonly Key[], costs: ReadonlyMap<string, Nano>, nowMs: number): Key[] {
  return keys
    .filter((key) => statusOf(key, nowMs) === 'active')
    .flatMap((key) => {
      const cost = costs.get(key.id) ?? 0n
      if (key.available <= 0n) return [{ key, lasts: 0n }]
      return cost > key.available ? [{ key, lasts: (key.available * 1_000_000n) / cost }] : []
    })
    .sort((a, b) => (a.lasts < b.lasts ? -1 : Number(a.lasts > b.lasts)))
    .slice(0, LOW_SHOWN)
    .map(({ key }) => key)
}
