import { expect, test } from '@jest/globals'
import { addHistograms, countIn, NO_HISTOGRAM, quantileOf } from '../../layers/gateway/domain/histogram.ts'
import { Random } from '../simulation/random.ts'

test('a quantile by buckets is within the width of a bucket of the exact one, however many histograms were added', () => {
  const random = new Random(3)
  const values = Array.from({ length: 2_000 }, () => Math.floor(30 * 10_000 ** random.next()))
  const halves = [values.slice(0, 700), values.slice(700)].map((some) => some.reduce(countIn, NO_HISTOGRAM))
  const all = halves.reduce(addHistograms)
  const sorted = values.toSorted((a, b) => a - b)
  for (const share of [0.5, 0.95]) {
    const exact = sorted[Math.floor(sorted.length * share)] as number
    const ratio = (quantileOf(all, share) as number) / exact
    expect(ratio).toBeGreaterThan(1 / 1.6)
    expect(ratio).toBeLessThan(1.6)
  }
})

test('no value is lost beyond the last bucket, and without values there is no quantile', () => {
  const all = [0, 1, 24, 25, 10 ** 7, 10 ** 9].reduce(countIn, NO_HISTOGRAM)
  expect(all.reduce((sum, count) => sum + count, 0)).toBe(6)
  expect(quantileOf(NO_HISTOGRAM, 0.5)).toBeUndefined()
})
