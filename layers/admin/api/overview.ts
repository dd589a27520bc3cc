import type { z } from 'zod'
import { DAY_MS, HOUR_MS, isoTime, MINUTE_MS, utcDay } from '../../gateway/domain/basics/time.ts'
import { balanceOf } from '../../gateway/domain/keys/account.ts'
import { accountIdOf, expiredHolds } from '../../gateway/domain/keys/key.ts'
import { formatCredits, type Nano } from '../../gateway/domain/money/money.ts'
import { latestRowMs, momentsOf } from '../../gateway/domain/rows/closed-day.ts'
import { faultsOf, UsageGroups, type UsagePart } from '../../gateway/domain/rows/day-total.ts'
import { addToModel, emptyModel, type ModelPart } from '../../gateway/domain/rows/usage-sum.ts'
import { SWEEP_EVERY_MINUTES } from '../../gateway/names.ts'
import { ACCOUNT } from '../../gateway/store/accounts/account-item.ts'
import { wholeKeys } from '../../gateway/store/accounts/whole-keys.ts'
import { readLastAudit } from '../../gateway/store/keys/last-audit.ts'
import { newest, newestKeys } from '../../gateway/store/keys/newest-keys.ts'
import type { TimeRange } from '../../gateway/store/rows/usage-rows.ts'
import { creditTexts, quantilesOf } from '../usage/usage-numbers.ts'
import { type ReadUsage, type UsageOfSpan, usageReader, weekCosts } from '../usage/usage-reader.ts'
import { accountShape, accountStatus, readPurses } from './account-shape.ts'
import type { Call } from './call.ts'
import { keyShape, statusOf } from './key-shape.ts'
import { requireRange } from './pages.ts'
import { routesNow } from './routes.ts'
import { ACCOUNT_STATUSES, KEY_STATUSES, type overviewQuery } from './shapes/queries.ts'
import type { Overview } from './shapes/usage.ts'

const LOW_SHOWN = 5
const DEAD_SHOWN = 20
const TOP_SHOWN = 10
const MOST_DAYS_BY_HOUR = 3
const MOST_DAYS = 400
/** Three sweeps may fail before an alarm goes off. */
const LATE_MS = 3 * SWEEP_EVERY_MINUTES * MINUTE_MS

export async function getOverview(call: Call, sent: z.output<typeof overviewQuery>): Promise<Overview> {
  const { tables, nowMs } = call
  const read = usageReader(tables)
  const { fromMs: today } = momentsOf(utcDay(nowMs))
  const week = { fromMs: today - 6 * DAY_MS, toMs: latestRowMs(nowMs) }
  const [firsts, accounts, days, costs, lastAudit, routes, ranges] = await Promise.all([
    Array.fromAsync(newestKeys(tables)()),
    Array.fromAsync(newest(tables, ACCOUNT)()),
    Array.fromAsync(read(week, 'models', 'days')),
    weekCosts(tables, nowMs, read),
    readLastAudit(tables)(),
    routesNow(call, read),
    rangesOf(read, sent, nowMs),
  ])
  const [keys, balances] = await Promise.all([
    wholeKeys(tables)(firsts, nowMs),
    readPurses(tables, accounts, costs, firsts),
  ])
  const since = (ms: number) => together(days.filter(({ atMs }) => atMs >= ms))
  const statuses = keys.map((key) => statusOf(key, nowMs))
  const names = new Map([...keys, ...accounts].map(({ id, name }) => [id, name]))
  const alone = keys.filter((key) => !accountIdOf(key))
  return {
    object: 'overview',
    ...ranges,
    top_keys: ranges.top_keys.map((entry) => ({ ...entry, name: names.get(entry.id) ?? entry.id })),
    spent_today: formatCredits(since(today).cost),
    spent_7_days: formatCredits(since(week.fromMs).cost),
    requests_today: since(today).requests,
    errors: Object.entries(since(today - DAY_MS).errors)
      .map(([code, requests]) => ({ code, requests }))
      .sort((a, b) => b.requests - a.requests || (a.code < b.code ? -1 : 1)),
    keys: countsOf(KEY_STATUSES, statuses),
    accounts: countsOf(ACCOUNT_STATUSES, accounts.map(accountStatus)),
    low: firstToRunDry(
      alone.filter((key) => statusOf(key, nowMs) === 'active'),
      ({ id, available }) => ({ available, weekCost: costs.get(id) ?? 0n }),
    ).map((key) => keyShape(key, nowMs, costs.get(key.id) ?? 0n, names)),
    low_accounts: firstToRunDry(
      balances.filter(({ account }) => account.status === 'active'),
      ({ account, purses, weekCost }) => ({ available: balanceOf(account, purses).available, weekCost }),
    ).map(accountShape),
    // Requests that died, and that the sweep should have settled by now.
    dead_requests: keys
      .flatMap((key) => expiredHolds(key, nowMs - LATE_MS))
      .slice(0, DEAD_SHOWN)
      .map(({ requestId }) => requestId),
    last_audit: lastAudit ? { at: isoTime(lastAudit.atMs), keys: lastAudit.keys, wrong: lastAudit.wrong } : null,
    routes,
  }
}

function countsOf<Status extends string>(all: readonly Status[], statuses: readonly Status[]) {
  const counts = all.map((status) => [status, statuses.filter((one) => one === status).length])
  return Object.fromEntries(counts) as Record<Status, number>
}

type Lasting = { readonly available: Nano; readonly weekCost: Nano }

/** Those that spend their balance within a week at the last week's rate, or have none; the first to run dry first. */
export function firstToRunDry<T>(all: readonly T[], balanceOf: (one: T) => Lasting): T[] {
  return all
    .flatMap((one) => {
      const { available, weekCost } = balanceOf(one)
      if (available <= 0n) return [{ one, lasts: 0n }]
      return weekCost > available ? [{ one, lasts: (available * 1_000_000n) / weekCost }] : []
    })
    .sort((a, b) => (a.lasts < b.lasts ? -1 : Number(a.lasts > b.lasts)))
    .slice(0, LOW_SHOWN)
    .map(({ one }) => one)
}

async function rangesOf(read: ReadUsage, sent: z.output<typeof overviewQuery>, nowMs: number) {
  const toMs = sent.to ?? nowMs
  const fromMs = sent.from ?? toMs - DAY_MS
  requireRange(fromMs, toMs, MOST_DAYS)
  // A gateway's clock may be ahead, and its newest rows belong to a range that ends now.
  const lastMs = latestRowMs(nowMs)
  const range = { fromMs, toMs: sent.to === undefined ? lastMs : Math.min(toMs, lastMs) }
  const earlier = { fromMs: Math.max(0, fromMs - (toMs - fromMs)), toMs: Math.min(fromMs, lastMs) }
  const isLong = toMs - fromMs > MOST_DAYS_BY_HOUR * DAY_MS
  const [spans, spansBefore, keys] = await Promise.all([
    Array.fromAsync(read(range, 'models', isLong ? 'days' : 'hours')),
    Array.fromAsync(read(earlier, 'models', 'days')),
    Array.fromAsync(read(range, 'keys', 'days')),
  ])
  // Requests that were refused early name none.
  const models = modelsIn(spans).filter(({ model }) => model !== undefined)
  return {
    range: numbersOf({ fromMs, toMs }, spans),
    before: numbersOf(earlier, spansBefore),
    series: seriesOf(spans, isLong ? DAY_MS : HOUR_MS),
    top_keys: topOf(keys.flatMap(({ sum }) => [...sum.keys].map(([name, part]) => ({ name, part })))),
    top_models: topOf(models.map((part) => ({ name: part.model ?? '', part }))),
  }
}

function modelsIn(spans: readonly UsageOfSpan[]): ModelPart[] {
  return spans.flatMap(({ sum }) => [...sum.models.values()])
}

function together(spans: readonly UsageOfSpan[]): ModelPart {
  const sum = emptyModel()
  for (const part of modelsIn(spans)) addToModel(sum, part)
  return sum
}

function numbersOf({ fromMs, toMs }: TimeRange, spans: readonly UsageOfSpan[]): Overview['range'] {
  const all = together(spans)
  return {
    from: isoTime(fromMs),
    to: isoTime(toMs),
    ...figuresOf(all),
    first_token_ms: quantilesOf(all.firstToken),
    duration_ms: quantilesOf(all.duration),
  }
}

/** A day that is not over is read by the hour, and an hour may be read in parts. */
function seriesOf(spans: readonly UsageOfSpan[], stepMs: number): Overview['series'] {
  const points = Map.groupBy(spans, ({ atMs }) => Math.floor(atMs / stepMs) * stepMs)
  return [...points]
    .sort(([a], [b]) => a - b)
    .map(([atMs, some]) => {
      const all = together(some)
      return { start_time: isoTime(atMs), ...figuresOf(all), first_token_ms: quantilesOf(all.firstToken) }
    })
}

function topOf(usage: readonly { readonly name: string; readonly part: UsagePart }[]): Overview['top_keys'] {
  const dearest = UsageGroups.of(usage, ({ name }) => name).dearestFirst()
  return dearest.slice(0, TOP_SHOWN).map(([id, part]) => ({ id, name: id, ...figuresOf(part) }))
}

function figuresOf(part: UsagePart) {
  const { requests, completed, cost, upstreamCost, costOfStated } = part
  return {
    requests,
    errors: requests - completed,
    ...faultsOf(part),
    ...creditTexts({ cost, upstream_cost: upstreamCost, margin: costOfStated - upstreamCost }),
  }
}
