import { daysFrom, earliestRowMs, momentsOf } from '../../gateway/domain/closed-day.ts'
import { DayCounter, type DayTotal, type UsagePart } from '../../gateway/domain/day-total.ts'
import type { Key } from '../../gateway/domain/key.ts'
import { utcDay } from '../../gateway/domain/time.ts'
import { listKeys } from '../../gateway/store/keys/read-key.ts'
import type { Tables } from '../../gateway/store/tables.ts'
import { readClosing } from '../../gateway/store/usage/closing.ts'
import { readDayTotal } from '../../gateway/store/usage/day-totals.ts'
import { queryUsageRows, type TimeRange } from '../../gateway/store/usage/usage-rows.ts'
import { knownKey } from '../api/known-key.ts'
import { closedDayTotals } from './closed-day-totals.ts'
import { mapConcurrently } from './map-concurrently.ts'
import { settledUsage } from './settled-usage.ts'

/** The usage of a key on a day, for one model at one provider. */
export type UsageOfDay = { readonly keyId: string; readonly day: string; readonly part: UsagePart }

type KeyAndDay = { readonly keyId: string; readonly day: string; readonly finalMs: number }

/** Queries that run concurrently. */
const AT_ONCE = 16

/**
 * The usage of one key by its id, or of all, in a range, in no order. A caller that has just read all keys may pass
 * them. A whole closed day is read from its totals, by one query for all keys; a day that is open, or only partly in
 * the range, from its rows, by a query for each key: from its start, or from the last final row.
 */
export async function* usageOfDays(
  tables: Tables,
  of: string | readonly Key[] | undefined,
  range: TimeRange,
  nowMs: number,
  settled = settledUsage(tables),
): AsyncGenerator<UsageOfDay, void, undefined> {
  const key = typeof of === 'string' ? await knownKey(tables, of) : undefined
  const closing = await readClosing(tables)()
  const { closedThrough = '' } = closing
  if (closing.isHalted) settled.forget()
  const days = [...daysFrom(utcDay(range.fromMs), utcDay(range.toMs - 1))]
  const isTotal = (day: string) => day <= closedThrough && isWithin(momentsOf(day), range)

  const readTotals = async (day: string) => usageIn(await totalsOf(day))
  yield* mapConcurrently(days.filter(isTotal), AT_ONCE, readTotals)
  const rest = days.filter((day) => !isTotal(day))
  yield* mapConcurrently(keysAndDays(rest), AT_ONCE, rowsOf)

  async function totalsOf(day: string): Promise<readonly DayTotal[]> {
    if (!key) return closedDayTotals(tables, day)
    const total = await readDayTotal(tables)(key.id, day)
    return total ? [total] : []
  }

  async function* keysAndDays(openDays: readonly string[]) {
    if (openDays.length === 0) return
    for await (const one of keysRead()) {
      const finalMs = closing.isHalted ? Number.NEGATIVE_INFINITY : settled.finalBefore(one, nowMs)
      for (const day of openDays) if (momentsOf(day).toMs > earliestRowMs(one)) yield { keyId: one.id, day, finalMs }
    }
  }

  function keysRead(): Iterable<Key> | AsyncIterable<Key> {
    if (key) return [key]
    return typeof of === 'object' ? of : listKeys(tables)()
  }

  /** Added up while reading: a busy day has more rows than fit in memory. */
  async function rowsOf({ keyId, day, finalMs }: KeyAndDay): Promise<UsageOfDay[]> {
    const whole = momentsOf(day)
    const toMs = Math.min(whole.toMs, range.toMs)
    // A cached part begins with its day, so it is of no use for a range that begins later.
    const beforeMs = range.fromMs <= whole.fromMs ? Math.min(finalMs, toMs) : Number.NEGATIVE_INFINITY
    const part = settled.partOf(keyId, day, beforeMs, nowMs)
    const fromMs = part?.beforeMs ?? Math.max(whole.fromMs, range.fromMs)
    const [final, rest] = [new DayCounter(keyId, day), new DayCounter(keyId, day)]
    if (part) final.addTotal(part.total)
    for await (const row of queryUsageRows(tables, 'sums')(keyId, { fromMs, toMs })) {
      const counter = row.startedAtMs < beforeMs ? final : rest
      counter.add(row)
    }
    if (beforeMs > fromMs) settled.keep({ beforeMs, total: final.total() })
    rest.addTotal(final.total())
    return usageIn([rest.total()])
  }
}

function usageIn(totals: readonly DayTotal[]): UsageOfDay[] {
  return totals.flatMap(({ keyId, day, parts }) => parts.map((part) => ({ keyId, day, part })))
}

function isWithin(inner: TimeRange, outer: TimeRange): boolean {
  return outer.fromMs <= inner.fromMs && inner.toMs <= outer.toMs
}
