/** Tokens written to a cache by their life in it, of unknown worth. */
type Lives = { readonly fiveMinutes?: unknown; readonly hour?: unknown }

/** All that were written, and of them those for an hour; without `hour`, nobody tells them apart. */
type CacheWrites = { readonly all: number; readonly hour?: number }

/** Whatever is not said to stay for five minutes is taken for the dearer hour. */
export function cacheWrites(total: number, { fiveMinutes = 0, hour = 0 }: Lives): CacheWrites {
  if (!isCount(fiveMinutes) || !isCount(hour) || fiveMinutes + hour === 0) return { all: total }
  const all = Math.max(total, fiveMinutes + hour)
  return { all, hour: all - fiveMinutes }
}

/** In the words of Chat Completions. */
export function cacheWriteCounts({ all, hour }: CacheWrites): Readonly<Record<string, number>> {
  return {
    ...(all !== 0 && { cache_write_tokens: all }),
    ...(hour !== undefined && { cache_write_1h_tokens: hour }),
  }
}

function isCount(value: unknown): value is number {
  return Number.isSafeInteger(value) && (value as number) >= 0
}
