/** Tokens written to a cache by their life in it, not checked yet. */
type Lives = { readonly fiveMinutes?: unknown; readonly hour?: unknown }

/** All tokens that were written, and the part of them for an hour; without `hour`, the upstream does not tell them apart. */
type CacheWrites = { readonly all: number; readonly hour?: number }

/** A token that is not said to stay for five minutes counts as one for the more expensive hour. */
export function cacheWrites(total: number, { fiveMinutes = 0, hour = 0 }: Lives): CacheWrites {
  if (!isCount(fiveMinutes) || !isCount(hour) || fiveMinutes + hour === 0) return { all: total }
  const all = Math.max(total, fiveMinutes + hour)
  return { all, hour: all - fiveMinutes }
}

/** The counts in the format of Chat Completions. */
export function cacheWriteCounts({ all, hour }: CacheWrites): Readonly<Record<string, number>> {
  return {
    ...(all !== 0 && { cache_write_tokens: all }),
    ...(hour !== undefined && { cache_write_1h_tokens: hour }),
  }
}

function isCount(value: unknown): value is number {
  return Number.isSafeInteger(value) && (value as number) >= 0
}
