import { DAY_MS, utcDay } from '../../gateway/domain/basics/time.ts'
import type { Key } from '../../gateway/domain/keys/key.ts'
import type { Nano } from '../../gateway/domain/money/money.ts'
import { latestRowMs, momentsOf } from '../../gateway/domain/rows/closed-day.ts'
import type { Tables } from '../../gateway/store/dynamodb/tables.ts'
import { readClosing } from '../../gateway/store/rows/closing.ts'
import { usageOfKey } from '../../gateway/store/rows/usage-of-key.ts'
import type { TimeRange } from '../../gateway/store/rows/usage-rows.ts'
import { type ReadUsage, sumOf, usageReader } from './usage-reader.ts'

const WEEK_DAYS = 7

type Costs = ReadonlyMap<string, Nano>

/** Each key's charge of the last week: of whole days, or of all rows so far if no day was ever closed. */
export async function weekCosts(tables: Tables, nowMs: number, read: ReadUsage = usageReader(tables)): Promise<Costs> {
  const { keys } = await sumOf(read(await weekOf(tables, nowMs), 'keys', 'days'))
  return new Map([...keys].map(([id, { cost }]) => [id, cost]))
}

/** The same for one key, without reading those of all for it. */
export async function weekCostOf(tables: Tables, key: Key, nowMs: number): Promise<Nano> {
  let sum = 0n
  for await (const { part } of usageOfKey(tables, key, await weekOf(tables, nowMs))) sum += part.cost
  return sum
}

async function weekOf(tables: Tables, nowMs: number): Promise<TimeRange> {
  const { closedThrough } = await readClosing(tables)()
  const today = momentsOf(utcDay(nowMs))
  return { fromMs: today.fromMs - WEEK_DAYS * DAY_MS, toMs: closedThrough ? today.fromMs : latestRowMs(nowMs) }
}
