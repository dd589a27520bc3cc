import { expect, test } from '@jest/globals'
import {
  intervalUs,
  lastTakeableFullAtUs,
  secondsUntilFull,
  secondsUntilToken,
  tokensLeft,
} from '../../layers/gateway/domain/admission/bucket.ts'

/** The store's conditional write, in memory. */
function take(rpm: number, fullAtUs: number, nowMs: number): number | undefined {
  if (fullAtUs > lastTakeableFullAtUs(rpm, nowMs)) return undefined
  return Math.max(fullAtUs, nowMs * 1000) + intervalUs(rpm)
}

const NOW = 1_794_708_100_123

test.each([1, 2, 7, 60, 61, 997, 59_999, 60_000])(
  'a rate limit of %i a minute admits exactly that many requests at once',
  (rpm) => {
    let fullAtUs = 0
    let wrong = 0
    for (let i = 0; i < rpm; i++) {
      if (tokensLeft(rpm, fullAtUs, NOW) !== rpm - i) wrong += 1
      fullAtUs = take(rpm, fullAtUs, NOW) ?? Number.NaN
    }
    expect(wrong).toBe(0)
    expect(take(rpm, fullAtUs, NOW)).toBeUndefined()
    expect(tokensLeft(rpm, fullAtUs, NOW)).toBe(0)
    expect(secondsUntilToken(rpm, fullAtUs, NOW)).toBeGreaterThan(0)
    expect(secondsUntilFull(fullAtUs, NOW)).toBe(60)
  },
)

test.each([7, 60, 997, 59_999])('a rate limit of %i a minute never refills faster than that', (rpm) => {
  let fullAtUs = 0
  let admitted = 0
  const minutes = 5
  for (let ms = 0; ms < minutes * 60_000; ms += 10) {
    for (let next = take(rpm, fullAtUs, NOW + ms); next !== undefined; next = take(rpm, fullAtUs, NOW + ms)) {
      fullAtUs = next
      admitted += 1
    }
  }
  expect(admitted).toBeLessThanOrEqual(rpm * (minutes + 1))
  expect(admitted).toBeGreaterThan(rpm * (minutes + 1) * 0.97)
})

test('a used-up rate limit of 60 a minute admits the next request after one second and not before', () => {
  let fullAtUs = 0
  for (let i = 0; i < 60; i++) fullAtUs = take(60, fullAtUs, NOW) ?? 0
  expect(take(60, fullAtUs, NOW + 999)).toBeUndefined()
  expect(take(60, fullAtUs, NOW + 1000)).toBeDefined()
})

test('a clock that steps back refills no rate limit, and the remainder is never below zero', () => {
  const fullAtUs = take(60, 0, NOW) ?? 0
  expect(tokensLeft(60, fullAtUs, NOW - 10_000)).toBe(49)
  expect(tokensLeft(60, fullAtUs, NOW - 60_000)).toBe(0)
})

test('a rate limit written by a clock more than a minute ahead still admits one request', () => {
  const fullAtUs = take(60, 0, NOW + 3_600_000) ?? 0
  expect(tokensLeft(60, fullAtUs, NOW)).toBe(1)
  expect(tokensLeft(60, fullAtUs, NOW + 3_600_000)).toBe(59)
})

test('a bucket is believed if it is full within two minutes, which a clock a minute ahead can make it, and no longer', () => {
  const latest = (NOW + 120_000) * 1_000
  expect([latest, latest + 1].map((fullAtUs) => tokensLeft(60, fullAtUs, NOW))).toEqual([0, 1])
})
