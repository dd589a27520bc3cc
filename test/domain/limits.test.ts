import { expect, test } from '@jest/globals'
import { type Counter, secondsLeft } from '../../layers/gateway/domain/admission/counters.ts'
import { isoTime, utcDay } from '../../layers/gateway/domain/basics/time.ts'

const DAY_MS = 24 * 60 * 60 * 1000

test('times are written as toISOString writes them, at any millisecond of any day, in any order', () => {
  const moments = [0, 1, 999, DAY_MS - 1, DAY_MS, Date.UTC(2024, 1, 29, 23, 59, 59, 999), -1, 1_700_000_000_000.75]
  for (let i = 0; i < 5_000; i++) moments.push(Math.floor(Math.random() * Date.UTC(2100, 0)))
  for (const ms of moments) {
    expect(isoTime(ms)).toBe(new Date(ms).toISOString())
    expect(utcDay(ms)).toBe(new Date(ms).toISOString().slice(0, 10))
  }
})

test('the days around midnight are told apart, whichever is asked for first', () => {
  const midnight = Date.UTC(2026, 10, 16)
  for (const ms of [midnight, midnight - 1, midnight, midnight - DAY_MS, midnight + DAY_MS, midnight - 1]) {
    expect(utcDay(ms)).toBe(new Date(ms).toISOString().slice(0, 10))
  }
})

test('a moment that is none is refused, as toISOString refuses it', () => {
  expect(() => isoTime(Number.NaN)).toThrow(RangeError)
})

test('a window of a minute or a day ends with it in UTC, and one of a month when the next month begins', () => {
  const left = (within: Counter['within'], ms: number) =>
    secondsLeft({ counts: 'requests', within, refusal: 'daily_limit_exceeded', stored: 'n', api: 'daily_limit' }, ms)
  const [december, february] = [Date.UTC(2026, 11, 31, 23, 59, 58, 1), Date.UTC(2028, 1, 28)]
  expect([left('minute', december), left('day', december), left('month', december)]).toEqual([2, 2, 2])
  expect(left('minute', february)).toBe(60)
  expect([left('day', february), left('month', february)]).toEqual([DAY_MS / 1000, (2 * DAY_MS) / 1000])
})
