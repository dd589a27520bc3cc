import { FUNCTION_TIMEOUT_SECONDS, HOLD_MARGIN_SECONDS } from '../../names.ts'
import { DAY_MS, HOUR_MS, MINUTE_MS, ulidTimeMs, utcDay } from '../basics/time.ts'
import type { Key } from '../keys/key.ts'

/** No clock of ours is further off than this. */
export const CLOCK_MARGIN_MS = HOUR_MS

/** After this time there can be no rows yet, even if a gateway's clock is ahead of the operator's. */
export function latestRowMs(nowMs: number): number {
  return nowMs + CLOCK_MARGIN_MS
}

/**
 * How long after its end a day may still get a request: from an instance whose clock is behind, as one sees it whose
 * clock is ahead, for as long as a function and its hold can live. A request that died on that day and still holds
 * credits keeps the day open for longer, and is found on its key.
 */
export const CLOSING_LAG_MS = 2 * CLOCK_MARGIN_MS + (FUNCTION_TIMEOUT_SECONDS + HOLD_MARGIN_SECONDS) * 1000

/** Sums of hours stay so far behind the clock. A later row is found when its day is closed, and they are made again. */
export const SUMMING_LAG_MS = 10 * MINUTE_MS

export const LEAST_ROW_DAYS = 90
/** From this age on, a day that is not exported keeps every row from expiring: a month before the first could. */
const UNEXPORTED_DAYS = LEAST_ROW_DAYS - 30

export function mayRowsExpire(firstUnexported: string, nowMs: number): boolean {
  return Date.parse(firstUnexported) + UNEXPORTED_DAYS * DAY_MS > nowMs
}

export function lastEndedDay(nowMs: number): string {
  return utcDay(nowMs - CLOSING_LAG_MS - DAY_MS)
}

/** The days whose requests are not all settled: each of these holds will become a row of its day. */
export function openDaysOf({ holds }: Pick<Key, 'holds'>): ReadonlySet<string> {
  return new Set(Object.keys(holds).map((requestId) => utcDay(ulidTimeMs(requestId))))
}

/** Requests of a key read at this moment that began before the returned time have their rows. */
export function settledBefore({ holds }: Pick<Key, 'holds'>, nowMs: number, lagMs = SUMMING_LAG_MS): number {
  return Object.keys(holds).reduce((before, requestId) => Math.min(before, ulidTimeMs(requestId)), nowMs - lagMs)
}

/** Before this time a key can have no rows, even if two clocks differ. */
export function earliestRowMs({ createdAtMs }: Pick<Key, 'createdAtMs'>): number {
  return createdAtMs - DAY_MS
}

export function momentsOf(day: string): { readonly fromMs: number; readonly toMs: number } {
  const fromMs = Date.parse(day)
  return { fromMs, toMs: fromMs + DAY_MS }
}

export function dayAfter(day: string): string {
  return utcDay(Date.parse(day) + DAY_MS)
}

export function* daysFrom(first: string, last: string): Generator<string> {
  for (let day = first; day <= last; day = dayAfter(day)) yield day
}
