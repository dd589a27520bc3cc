import { utcDay } from '../../gateway/domain/basics/time.ts'
import type { Key } from '../../gateway/domain/keys/key.ts'
import type { Nano } from '../../gateway/domain/money/money.ts'
import { dayAfter, earliestRowMs, momentsOf } from '../../gateway/domain/rows/closed-day.ts'
import { DayCounter, type DayTotal } from '../../gateway/domain/rows/day-total.ts'
import type { Tables } from '../../gateway/store/dynamodb/tables.ts'
import { readClosing } from '../../gateway/store/rows/closing.ts'
import { queryUsageRows } from '../../gateway/store/rows/usage-rows.ts'
import { checkRow } from './check-row.ts'
import { checkTotals } from './check-totals.ts'
import { Findings } from './findings.ts'

/** The closed days of a key, added up to some day. They do not change any more, so an audit can go on after them. */
export type ClosedDays = {
  readonly keyId: string
  /** The first day that is not added up. */
  readonly nextDay: string
  /** All closed days are added up. */
  readonly isWhole: boolean
  /** With those that have expired. */
  readonly rows: number
  readonly costs: Nano
  readonly expiredRows: number
  readonly findings: Pick<Findings, 'kept' | 'omitted' | 'wrong'>
}

export type Progress = {
  readonly nowMs: number
  readonly isOver: () => boolean
  /** The days that are added up already. */
  readonly begun?: ClosedDays | undefined
}

/** Totals of so many days are compared at once. */
const MOST_DAYS = 64

/** At least one day, and others until the time is over. */
export async function addClosedDays(tables: Tables, key: Key, { nowMs, isOver, begun }: Progress): Promise<ClosedDays> {
  const { closedThrough = '' } = await readClosing(tables)()
  const findings = new Findings(begun?.findings)
  let nextDay = begun?.nextDay ?? utcDay(earliestRowMs(key))
  let [rows, costs, expiredRows] = [begun?.rows ?? 0, begun?.costs ?? 0n, begun?.expiredRows ?? 0]
  for (let isEnd = false; nextDay <= closedThrough && !isEnd; ) {
    const counted = new Map<string, DayTotal>()
    do {
      const counter = new DayCounter(key.id, nextDay)
      for await (const row of queryUsageRows(tables)(key.id, momentsOf(nextDay))) {
        rows += 1
        costs += row.cost
        findings.add(...checkRow(row))
        counter.add(row)
      }
      counted.set(nextDay, counter.total())
      nextDay = dayAfter(nextDay)
      isEnd = isOver()
    } while (nextDay <= closedThrough && counted.size < MOST_DAYS && !isEnd)
    const { findings: wrong, expired } = await checkTotals(tables, counted, { keyId: key.id, nowMs })
    findings.add(...wrong)
    rows += expired.rows
    costs += expired.costs
    expiredRows += expired.rows
  }
  return { keyId: key.id, nextDay, isWhole: nextDay > closedThrough, rows, costs, expiredRows, findings }
}
