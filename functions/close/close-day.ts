import { momentsOf } from '../../layers/gateway/domain/closed-day.ts'
import { DayCounter } from '../../layers/gateway/domain/day-total.ts'
import { putDayTotal, queryDayTotals } from '../../layers/gateway/store/usage/day-totals.ts'
import { queryUsageRows } from '../../layers/gateway/store/usage/usage-rows.ts'
import type { Instance } from '../instance.ts'

export type ClosableKey = {
  readonly id: string
  /** The key has no rows before this day. */
  readonly firstDay: string
  /** Days with requests that are not settled. */
  readonly openDays: ReadonlySet<string>
}

/** True once every key with rows of the day has its total. */
type CloseDay = (day: string, keys: readonly ClosableKey[]) => Promise<boolean>

/** Keys that are added up concurrently. */
const AT_ONCE = 16

export function dayCloser({ tables, log }: Pick<Instance, 'tables' | 'log'>, hasTime: () => boolean): CloseDay {
  const put = putDayTotal(tables)
  const rowsOf = queryUsageRows(tables)
  const totalsOf = queryDayTotals(tables)

  return async (day, keys) => {
    const done = new Set<string>()
    for await (const { keyId } of totalsOf(day)) done.add(keyId)
    const left = keys.filter(({ id, firstDay }) => firstDay <= day && !done.has(id))
    const ready = left.filter(({ openDays }) => !openDays.has(day))
    let isWhole = ready.length === left.length
    const next = ready.values()
    const work = async () => {
      for (const { id } of next) if (!(await closeKey(id, day))) isWhole = false
    }
    await Promise.all(Array.from({ length: AT_ONCE }, work))
    return isWhole
  }

  /** A key without rows has no total. False if the time was not enough. */
  async function closeKey(keyId: string, day: string): Promise<boolean> {
    const counter = new DayCounter(keyId, day)
    for await (const row of rowsOf(keyId, momentsOf(day))) {
      if (!hasTime()) return false
      counter.add(row)
    }
    const total = counter.total()
    if (total.parts.length > 0 && !(await put(total))) {
      // The total stays, and the audit names the difference for as long as it has the rows.
      log.problem(`the total of ${keyId} on ${day} is not the sum of its rows`, new Error('A total was changed.'), '-')
    }
    return true
  }
}
