import { expect, test } from '@jest/globals'
import { addHistogram, countIn, emptyHistogram, quantileOf } from '../../layers/gateway/domain/rows/histogram.ts'
import { Random } from '../simulation/random.ts'

function histogramOf(values: readonly number[]) {
  const histogram = emptyHistogram()
  for (const value of values) countIn(histogram, value)
  return histogram
}

test('a quantile by buckets is within the width of a bucket of the exact one, however many histograms were added', () => {
  const random = new Random(3)
  const values = Array.from({ length: 2_000 }, () => Math.floor(30 * 10_000 ** random.next()))
  const all = histogramOf(values.slice(0, 700))
  addHistogram(all, histogramOf(values.slice(700)))
  const sorted = values.toSorted((a, b) => a - b)
  for (const share of [0.5, 0.95]) {
    const exact = sorted[Math.floor(sorted.length * share)] as number
    const ratio = (quantileOf(all, share) as number) / exact
    expect(ratio).toBeGreaterThan(1 / 1.6)
    expect(ratio).toBeLessThan(1.6)
  }
})

test('no value is lost beyond the last bucket, and without values there is no quantile', () => {
  const all = histogramOf([0, 1, 24, 25, 10 ** 7, 10 ** 9])
  expect(all.reduce((sum, count) => sum + count, 0)).toBe(6)
  expect(quantileOf(emptyHistogram(), 0.5)).toBeUndefined()
})
