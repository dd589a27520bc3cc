import { utcDay } from '../../gateway/domain/basics/time.ts'
import type { Key } from '../../gateway/domain/keys/key.ts'
import { formatCredits, type Nano } from '../../gateway/domain/money/money.ts'
import { isStated } from '../../gateway/domain/money/price.ts'
import { PRICE_ROWS } from '../../gateway/domain/money/price-kinds.ts'
import { expectedCost, hasSoundTokens, quantitiesOf } from '../../gateway/domain/rows/charges.ts'
import { earliestRowMs, momentsOf } from '../../gateway/domain/rows/closed-day.ts'
import { DayCounter, type DayTotal, isSameTotal, type Sums, sumsOf } from '../../gateway/domain/rows/day-total.ts'
import { USAGE_FIELDS, type UsageRow } from '../../gateway/domain/rows/usage-row.ts'
import type { Tables } from '../../gateway/store/dynamodb/database.ts'
import { readDayTotal } from '../../gateway/store/rows/day-totals.ts'
import { queryUsageRows, readLanedKey } from '../../gateway/store/rows/usage-rows.ts'
import { type Finding, Findings } from './findings.ts'

export type AddedRows = {
  readonly keyId: string
  readonly beforeMs: number
  /** Expired rows are counted, too. */
  readonly rows: number
  readonly costs: Nano
  readonly expiredRows: number
  readonly day: DayTotal
  readonly findings: Pick<Findings, 'kept' | 'omitted' | 'wrong'>
}

export type Reading = {
  readonly nowMs: number
  readonly toMs: number
  readonly closedThrough: string
  /** True if rows of this moment and later ones may be left for another call. At least one moment is added before it is asked. */
  readonly mayStop: (atMs: number) => boolean
  readonly onRow?: (row: UsageRow) => void
}

export function noRows(key: Key): AddedRows {
  const { fromMs } = momentsOf(utcDay(earliestRowMs(key)))
  const day = new DayCounter(key.id, utcDay(fromMs)).total()
  return { keyId: key.id, beforeMs: fromMs, rows: 0, costs: 0n, expiredRows: 0, day, findings: new Findings() }
}

/** Adds the rows from where the reading before has ended. A closed day that is at its end is compared with its total. */
export async function addRows(tables: Tables, before: AddedRows, reading: Reading): Promise<AddedRows> {
  const { keyId } = before
  const { nowMs, toMs, closedThrough, mayStop, onRow } = reading
  const findings = new Findings(before.findings)
  let { beforeMs, rows, costs, expiredRows, day } = before
  const key = await readLanedKey(tables)(keyId)
  while (beforeMs < toMs && !(beforeMs > before.beforeMs && mayStop(beforeMs))) {
    const counter = new DayCounter(keyId, utcDay(beforeMs))
    if (day.day === utcDay(beforeMs)) counter.addTotal(day)
    const { toMs: endMs } = momentsOf(utcDay(beforeMs))
    const isClosed = utcDay(beforeMs) <= closedThrough
    const total = isClosed ? readDayTotal(tables)(keyId, utcDay(beforeMs)) : undefined
    // It is awaited after the rows, and a failure is thrown there.
    total?.catch(() => {})
    let lastMs: number | undefined
    const range = { fromMs: beforeMs, toMs: Math.min(endMs, toMs) }
    for await (const row of queryUsageRows(tables)(key, range, 'oldest first')) {
      // A moment is added up to its end, because its rows are in no order.
      if (lastMs !== undefined && row.startedAtMs > lastMs && mayStop(row.startedAtMs)) {
        return { keyId, beforeMs: row.startedAtMs, rows, costs, expiredRows, day: counter.total(), findings }
      }
      lastMs = row.startedAtMs
      rows += 1
      costs += row.cost
      findings.add(...checkRow(row))
      counter.add(row)
      onRow?.(row)
    }
    beforeMs = range.toMs
    day = counter.total()
    const gone = isClosed ? compare(day, await total, nowMs, findings) : NONE
    rows += gone.requests
    costs += gone.cost
    expiredRows += gone.requests
  }
  return { keyId, beforeMs, rows, costs, expiredRows, day, findings }
}

const NONE: Sums = { requests: 0, cost: 0n }
const REMEDY =
  'A total is written once, when its day is closed, and never changed; nor are rows. Point-in-time recovery has the table as it was in the last 35 days.'

/** Both are the same while no row can have expired. Then the total stands for those that are gone, which are returned. */
function compare(there: DayTotal, total: DayTotal | undefined, nowMs: number, findings: Findings): Sums {
  if (!total) {
    const what = `the total of ${there.day} is missing, though the day is closed and has rows`
    if (there.parts.length > 0) findings.add({ what, expected: textOf(there), got: 'none', advice: REMEDY })
    return NONE
  }
  if ((total.rowsUntilMs ?? Infinity) > nowMs) {
    if (!isSameTotal(there, total)) findings.add(difference(there, total))
    return NONE
  }
  const [left, all] = [sumsOf(there), sumsOf(total)]
  if (left.requests > all.requests || left.cost > all.cost) findings.add(difference(there, total))
  return { requests: all.requests - left.requests, cost: all.cost - left.cost }
}

function difference(there: DayTotal, total: DayTotal): Finding {
  const what = `the total of ${total.day} is not the sum of its rows`
  const [expected, got] = [textOf(there), textOf(total)]
  if (expected !== got) return { what, expected, got, advice: REMEDY }
  return {
    what: `${what}, though requests and credits are: models, providers, tokens or outcomes differ`,
    advice: REMEDY,
  }
}

function textOf(total: DayTotal): string {
  const { requests, cost } = sumsOf(total)
  return `${requests} requests for ${formatCredits(cost)}`
}

const CHANGED = "A row is written once and never changed: compare it with this request's line in the log."

export function checkRow(row: UsageRow): Finding[] {
  const { requestId } = row
  const findings = [...checkTokens(row), ...checkCost(row), ...checkUpstreamCost(row)]
  return findings.map((finding) => ({ requestId, advice: CHANGED, ...finding }))
}

function checkTokens(row: UsageRow): Finding[] {
  if (hasSoundTokens(row)) return []
  const expected =
    'whole numbers from 0, no more cached and written to the cache than prompt, no more reasoning than completion'
  return [{ what: 'its tokens cannot be', expected, got: countsText(row) }]
}

function countsText(row: UsageRow): string {
  const quantities = quantitiesOf(row)
  const counted = PRICE_ROWS.flatMap(({ line, quantity, field }) => {
    const count = quantity ? quantities[quantity] : 0
    return field && (count !== 0 || !USAGE_FIELDS[field].optional) ? [`${line} ${count}`] : []
  })
  const { reasoningTokens = 0 } = row
  return [...counted, ...(reasoningTokens === 0 ? [] : [`reasoning ${reasoningTokens}`])].join(', ')
}

/** If several things are wrong with a cost, only the most telling one is found. */
function checkCost(row: UsageRow): Finding[] {
  const { cost, hold, outcome, usageSource, price, promptTokens } = row
  const found = (what: string, expected: Nano | string, got: Nano | string = cost) => [{ what, expected, got }]
  if (outcome === 'refused' && cost !== 0n) return found('it was refused, and yet it costs', 0n)
  if (usageSource === 'none' && cost !== 0n) return found('nothing was counted, and yet it costs', 0n)
  const above = price?.above ?? 0
  if (usageSource !== 'none' && above >= promptTokens && above > 0) {
    return found('its price is that of longer prompts', `more than ${above}`, `${promptTokens} prompt tokens`)
  }
  const expected = expectedCost(row)
  if (expected !== undefined && cost !== expected) return found('its cost is not its tokens × its price', expected)
  if (cost > hold) return found('it costs more than was held', hold)
  if (cost < 0n) return found('its cost is below zero', 0n)
  return price && !isStated(price) ? found('its price is none', 'plain decimals', JSON.stringify(price)) : []
}

/** The row does not have the cost of its route, so only a cost that is impossible for every route is found. */
function checkUpstreamCost({ upstreamCost: got, usageSource }: UsageRow): Finding[] {
  if (got === undefined) return []
  if (got < 0n) return [{ what: 'what it cost us is below zero', expected: 'at least 0', got }]
  if (usageSource !== 'none') return []
  return [{ what: 'nothing was counted, and yet it cost us something', expected: 'no upstreamCost', got }]
}
