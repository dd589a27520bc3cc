import { setTimeout as sleep } from 'node:timers/promises'
import { HOUR_MS, utcDay } from '../../layers/gateway/domain/basics/time.ts'
import {
  dayAfter,
  daysFrom,
  earliestRowMs,
  lastEndedDay,
  mayRowsExpire,
  momentsOf,
  openDaysOf,
  SUMMING_LAG_MS,
  settledBefore,
} from '../../layers/gateway/domain/rows/closed-day.ts'
import type { Seller } from '../../layers/gateway/domain/rows/statement.ts'
import type { PutObject } from '../../layers/gateway/platform/aws/put-object.ts'
import { attempter } from '../../layers/gateway/platform/retry.ts'
import { readCatalogHead } from '../../layers/gateway/store/catalog/read-catalog.ts'
import { listBooks } from '../../layers/gateway/store/keys/read-books.ts'
import {
  type Closing,
  INDEX_LAG_MS,
  noteClosing,
  readClosing,
  type SetRowExpiry,
} from '../../layers/gateway/store/rows/closing.ts'
import { hourAfter, hourOf, momentOfHour, type Span } from '../../layers/gateway/store/rows/hour-sums.ts'
import type { Instance } from '../instance.ts'
import { type Context, timeLeft } from '../scheduled-run.ts'
import { type ClosableKey, dayCloser } from './close-day.ts'
import { dayExporter, type ExportOptions } from './export-day.ts'
import { publishStatements } from './publish-statements.ts'
import { type Collector, sendSpans } from './send-spans.ts'
import { hasLateRows, hourSummer } from './sum-hours.ts'

export type CloseOptions = ExportOptions &
  Seller & {
    /** Nothing is exported if it is missing. */
    readonly putObject?: PutObject | undefined
    readonly setRowExpiry?: SetRowExpiry | undefined
    /** No spans leave if it is missing. */
    readonly collector?: Collector | undefined
    /** Why the trail of the keys does not record; nothing is asked without a trail. */
    readonly trailFault?: () => Promise<string | undefined>
    readonly pause?: (ms: number) => Promise<unknown>
  }

/** A run ends when its time does, or dies, and the next one goes on: everything that it writes may be written again. */
export function createClose(
  instance: Instance,
  { putObject, setRowExpiry, trailFault = async () => undefined, pause = sleep, ...options }: CloseOptions = {},
) {
  const { tables, clock, log } = instance
  const read = readClosing(tables)
  const note = noteClosing(tables)
  const attempt = attempter(log)

  return async (_event?: unknown, context?: Context): Promise<{ closed: number; exported: number; behind: number }> => {
    const timeLeftMs = timeLeft(context)
    // Tables of a newer schema are refused.
    await readCatalogHead(tables)()
    const last = lastEndedDay(clock())
    const before = await read()
    const hasTime = () => timeLeftMs() > 0
    await attempt('the expiry of rows could not be switched; the next run will', () => guardRows(before))
    // First, because every summary and the export go by the totals. If it fails, days that are closed are exported all the same.
    const closing = closeDays(before, last, timeLeftMs)
    await closing.catch(() => {})
    const { exported, unexported } = await exportDays(before.closedThrough, hasTime)
    await attempt('hours could not be added up; the next run will', () => sumHours(hasTime))
    await attempt('spans could not be sent', () => sendSpans(instance, hasTime, options.collector))
    const { closed, firstDay } = await closing
    await attempt('statements could not be published; the next run will', () =>
      publishStatements(instance, hasTime, options),
    )
    const { closedThrough } = await read()
    const behind = Math.max(unexported, daysBetween(closedThrough ? dayAfter(closedThrough) : firstDay, last))
    log.closed(closed, behind, await trailFault())
    return { closed, exported, behind }
  }

  /** Rows stay while those of a day could expire unexported. Every run switches it off: a restored table has it on. */
  async function guardRows({ exportedThrough, isExpiryOff = false }: Closing): Promise<void> {
    if (!setRowExpiry || (!putObject && exportedThrough === undefined)) return
    const next = exportedThrough ? dayAfter(exportedThrough) : firstDayOf(await keysToClose())
    const mayExpire = next === undefined || mayRowsExpire(next, clock())
    if (mayExpire && !isExpiryOff) return
    if (!mayExpire) await note({ isExpiryOff: true })
    await setRowExpiry(mayExpire)
    if (mayExpire) await note({ isExpiryOff: false })
  }

  async function closeDays({ closedThrough }: Closing, last: string, timeLeftMs: () => number) {
    if (closedThrough !== undefined && closedThrough >= last) return { closed: 0, firstDay: undefined }
    const keys = await keysToClose()
    const firstDay = closedThrough ? dayAfter(closedThrough) : firstDayOf(keys)
    if (firstDay === undefined || firstDay > last || timeLeftMs() <= INDEX_LAG_MS) return { closed: 0, firstDay }
    // A hold that was gone when its key was read has its row in the table, and after this pause also in the index.
    await pause(INDEX_LAG_MS)
    const hasTime = () => timeLeftMs() > 0
    const closeDay = dayCloser(instance, hasTime)
    let closed = 0
    let isUnbroken = true
    for (const day of daysFrom(firstDay, last)) {
      if (!hasTime()) break
      const isWhole = await attempt(`the day ${day} could not be closed; the next run will`, () => closeDay(day, keys))
      isUnbroken &&= isWhole === true
      if (!isUnbroken) continue
      await sumAgainIfLate(day)
      await note({ closedThrough: day })
      closed += 1
    }
    return { closed, firstDay }
  }

  async function exportDays(through: string | undefined, hasTime: () => boolean) {
    const { exportedThrough, exporting } = await read()
    if (!putObject || !through) return { exported: 0, unexported: 0 }
    const exportDay = dayExporter(tables, putObject, hasTime, options)
    const next = exportedThrough ? dayAfter(exportedThrough) : firstDayOf(await keysToClose())
    let exported = 0
    for (const day of next ? daysFrom(next, through) : []) {
      const from = exporting?.day === day ? exporting : undefined
      if (!(await attempt(`the day ${day} could not be exported; the next run will`, () => exportDay(day, from)))) break
      await note({ exportedThrough: day })
      exported += 1
    }
    return { exported, unexported: daysBetween(next, through) - exported }
  }

  /** Before a day is noted as closed, so that no late row is forgotten. */
  async function sumAgainIfLate(day: string): Promise<void> {
    const { summedThrough = '', again } = await read()
    const { fromMs, toMs } = momentsOf(day)
    const [first, last] = [hourOf(fromMs), hourOf(toMs - 1)]
    // Hours that are added up from now on have all their rows.
    const to = summedThrough < last ? summedThrough : last
    if (to < first || (to === last && !(await hasLateRows(tables, day)))) return
    await note({ again: { from: again && again.from < first ? again.from : first, to } })
  }

  /** Adds up the hours that are over, and once more those of which a row came late. */
  async function sumHours(hasTime: () => boolean): Promise<void> {
    const { summedThrough, again } = await read()
    if (!hasTime()) return
    const sum = hourSummer(tables, hasTime)
    if (again) {
      const left = (hour: Span) => (hour < again.to ? { ...again, from: hourAfter(hour) } : undefined)
      await sum(momentOfHour(again.from), momentOfHour(hourAfter(again.to)), (hour) => note({ again: left(hour) }))
    }
    const nowMs = clock()
    // Most runs find no hour that has ended since, and need not look at the keys.
    if (summedThrough && momentOfHour(summedThrough) + 2 * HOUR_MS > nowMs - SUMMING_LAG_MS) return
    let [earliestMs, settledMs] = [Infinity, Infinity]
    for await (const key of listBooks(tables)) {
      earliestMs = Math.min(earliestMs, earliestRowMs(key))
      settledMs = Math.min(settledMs, settledBefore(key, nowMs))
    }
    if (earliestMs === Infinity) return
    const firstMs = summedThrough ? momentOfHour(hourAfter(summedThrough)) : Math.floor(earliestMs / HOUR_MS) * HOUR_MS
    await sum(firstMs, settledMs, (hour) => note({ summedThrough: hour }))
  }

  async function keysToClose(): Promise<ClosableKey[]> {
    const keys = new Map<string, ClosableKey>()
    for await (const key of listBooks(tables)) {
      const { id, lane } = key
      const { openDays = new Set<string>(), lanes = 1 } = keys.get(id) ?? {}
      keys.set(id, {
        id,
        lanes: lane?.made ?? lanes,
        firstDay: utcDay(earliestRowMs(key)),
        openDays: openDays.union(openDaysOf(key)),
      })
    }
    return [...keys.values()]
  }
}

function firstDayOf(keys: readonly ClosableKey[]): string | undefined {
  return keys.map(({ firstDay }) => firstDay).toSorted()[0]
}

function daysBetween(first: string | undefined, last: string): number {
  return first === undefined ? 0 : [...daysFrom(first, last)].length
}
