import { daysFrom } from '../../gateway/domain/closed-day.ts'
import { sumsOf } from '../../gateway/domain/day-total.ts'
import type { Nano } from '../../gateway/domain/money.ts'
import { DAY_MS, utcDay } from '../../gateway/domain/time.ts'
import type { Tables } from '../../gateway/store/tables.ts'
import { readClosing } from '../../gateway/store/usage/closing.ts'
import { readDayTotal } from '../../gateway/store/usage/day-totals.ts'
import { closedDayTotals } from './closed-day-totals.ts'
import { mapConcurrently } from './map-concurrently.ts'
import { usageOfDays } from './usage-of-days.ts'
import { latestRowMs } from './usage-rows.ts'

const WEEK_MS = 7 * DAY_MS
/** A rate does not change in a minute, and a page asks every few seconds. */
const KEPT_MS = 60_000
const DAYS_AT_ONCE = 7

type Costs = ReadonlyMap<string, Nano>
const kept = new WeakMap<object, { readonly atMs: number; readonly costs: Promise<Costs> }>()

/** Each key's charge of the last week: by the closed days of it, or by its rows if no day is ever closed. */
export function weekCosts(tables: Tables, nowMs: number): Promise<Costs> {
  const before = kept.get(tables.database)
  if (before && nowMs < before.atMs + KEPT_MS) return before.costs
  const costs = readCosts(tables, nowMs)
  kept.set(tables.database, { atMs: nowMs, costs })
  costs.catch(() => kept.delete(tables.database))
  return costs
}

/** The same for one key, without reading those of all for it. */
export async function weekCostOf(tables: Tables, keyId: string, nowMs: number): Promise<Nano> {
  const before = kept.get(tables.database)
  if (before && nowMs < before.atMs + KEPT_MS) return (await before.costs).get(keyId) ?? 0n
  return (await readCosts(tables, nowMs, keyId)).get(keyId) ?? 0n
}

async function readCosts(tables: Tables, nowMs: number, keyId?: string): Promise<Costs> {
  const costs = new Map<string, Nano>()
  const add = (id: string, cost: Nano) => costs.set(id, (costs.get(id) ?? 0n) + cost)
  const { closedThrough } = await readClosing(tables)()
  if (closedThrough === undefined) {
    const range = { fromMs: nowMs - WEEK_MS, toMs: latestRowMs(nowMs) }
    for await (const usage of usageOfDays(tables, keyId, range, nowMs)) add(usage.keyId, usage.part.cost)
    return costs
  }
  const last = utcDay(nowMs - DAY_MS)
  const days = daysFrom(utcDay(nowMs - WEEK_MS), closedThrough < last ? closedThrough : last)
  const totalsOf = async (day: string) => {
    if (keyId === undefined) return closedDayTotals(tables, day)
    const total = await readDayTotal(tables)(keyId, day)
    return total ? [total] : []
  }
  for await (const total of mapConcurrently(days, DAYS_AT_ONCE, totalsOf)) add(total.keyId, sumsOf(total).cost)
  return costs
}
