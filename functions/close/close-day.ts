import { momentsOf } from '../../layers/gateway/domain/rows/closed-day.ts'
import { DayCounter } from '../../layers/gateway/domain/rows/day-total.ts'
import {
  type DaySum,
  putDaySum,
  putDayTotal,
  queryDayTotals,
  readDaySums,
} from '../../layers/gateway/store/rows/day-totals.ts'
import { queryUsageRows } from '../../layers/gateway/store/rows/usage-rows.ts'
import type { Instance } from '../instance.ts'
import { sideBySide } from '../scheduled-run.ts'

export type ClosableKey = {
  readonly id: string
  /** How many it has ever had. */
  readonly lanes: number
  /** The key has no rows before this day. */
  readonly firstDay: string
  readonly openDays: ReadonlySet<string>
}

/** A run that is killed loses no more of a key's sum than this: some 20 seconds of work. */
const SAVE_ROWS = 500_000

export function dayCloser({ tables, log, clock }: Instance, hasTime: () => boolean) {
  const put = putDayTotal(tables)
  const rowsOf = queryUsageRows(tables, 'sums')
  const totalsOf = queryDayTotals(tables)
  const readSums = readDaySums(tables)
  const putSum = putDaySum(tables)

  /** True once every key with rows of the day has its total. */
  return async (day: string, keys: readonly ClosableKey[]): Promise<boolean> => {
    const done = new Set<string>()
    for await (const { keyId } of totalsOf(day)) done.add(keyId)
    const left = keys.filter(({ id, firstDay }) => firstDay <= day && !done.has(id))
    const ready = left.filter(({ openDays }) => !openDays.has(day))
    const sums = await readSums(day)
    let isWhole = ready.length === left.length
    const isAll = await sideBySide(ready, hasTime, async (key) => {
      if (!(await closeKey(key, day, sums.get(key.id)))) isWhole = false
    })
    return isWhole && isAll
  }

  /** A key without rows has no total. False if the time was not enough: the next run goes on from the sum that is kept. */
  async function closeKey(key: ClosableKey, day: string, sum?: DaySum): Promise<boolean> {
    const { id: keyId } = key
    const counter = new DayCounter(keyId, day)
    if (sum) counter.addTotal(sum.total)
    const { fromMs, toMs } = momentsOf(day)
    let unsaved = 0
    let atMs: number | undefined
    for await (const row of rowsOf(key, { fromMs: sum?.beforeMs ?? fromMs, toMs }, 'oldest first')) {
      // Rows of one millisecond come in any order, so a sum ends between two milliseconds.
      if (atMs !== row.startedAtMs) {
        atMs = row.startedAtMs
        const isOver = !hasTime()
        if (unsaved >= (isOver ? 1 : SAVE_ROWS)) {
          await putSum({ total: counter.total(), beforeMs: atMs }, clock())
          unsaved = 0
        }
        if (isOver) return false
      }
      counter.add(row)
      unsaved += 1
    }
    const total = counter.total()
    if (total.parts.length > 0 && !(await put(total))) {
      // The total stays, and the audit names the difference for as long as it has the rows.
      log.problem(`the total of ${keyId} on ${day} is not the sum of its rows`, new Error('A total was changed.'), '-')
    }
    return true
  }
}
