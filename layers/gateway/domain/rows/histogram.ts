export type Histogram = number[]

const FIRST_MS = 25
const FACTOR = 1.6
/** From 25 ms on each bucket is wider by a factor; the last one begins at 20 minutes, longer than a function lives. */
const BUCKETS = 24

export function emptyHistogram(): Histogram {
  return new Array<number>(BUCKETS).fill(0)
}

export function countIn(histogram: Histogram, ms: number): void {
  const next = ms < FIRST_MS ? 0 : 1 + Math.floor(Math.log(ms / FIRST_MS) / Math.log(FACTOR))
  const bucket = Math.min(next, BUCKETS - 1)
  histogram[bucket] = (histogram[bucket] ?? 0) + 1
}

export function addHistogram(sum: Histogram, more: Histogram): void {
  for (const [bucket, count] of more.entries()) sum[bucket] = (sum[bucket] ?? 0) + count
}

/** The value below which a share of all lie, as if those of a bucket were spread evenly over it; undefined without any. */
export function quantileOf(histogram: Histogram, share: number): number | undefined {
  const all = histogram.reduce((sum, count) => sum + count, 0)
  let left = all * share
  for (const [bucket, count] of histogram.entries()) {
    if (count > 0 && left <= count) {
      const low = bucket === 0 ? 0 : FIRST_MS * FACTOR ** (bucket - 1)
      const high = FIRST_MS * FACTOR ** bucket
      return Math.round(low + (high - low) * (left / count))
    }
    left -= count
  }
  return undefined
}
