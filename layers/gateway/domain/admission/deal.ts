import { MINUTE_MS, ulidTimeMs } from '../basics/time.ts'
import type { Key } from '../keys/key.ts'
import { intervalUs, latestSaneFullAtUs, tokensLeft } from './bucket.ts'
import { COUNTER_NAMES, COUNTERS, CREDIT_COUNTERS, countName, type Most, takenBy, windowOf } from './counters.ts'
import { AT_ONCE, partOf, rateOf } from './shares.ts'

/** The beginning of a deal: the lanes and the rate until then, and the lane for whose request it is made. */
export type Begun = {
  readonly lanes: number
  readonly rpm: number
  readonly wanted?: ({ readonly index: number } & Most) | undefined
}

export type Dealt = { readonly parts: Readonly<Record<string, bigint>>; readonly fullAtUs?: number | undefined }

/**
 * Deals out what is left of each limit. All lanes are closed, so that nobody takes any meanwhile: what lanes have taken and
 * what they get add up to the limit. If more was taken than the limit is now, none gets any before the next deal.
 */
export function dealOut(lanes: readonly Key[], begun: Begun, nowMs: number): Dealt[] {
  const first = lanes[0] as Key
  const { wanted = { index: 0, hold: 0n } } = begun
  const buckets = begun.lanes === first.lanes ? undefined : bucketsOf(lanes, begun, nowMs)
  const parts = Array.from({ length: first.lanes }, (): Record<string, bigint> => ({}))
  divide(AT_ONCE, BigInt(first.maxConcurrent), ({ holds }) => BigInt(Object.keys(holds).length), 1n)
  for (const name of COUNTER_NAMES) {
    const { [name]: counter } = COUNTERS
    const windows = new Set([windowOf(counter, nowMs), ...lanes.flatMap(({ counts }) => Object.keys(counts[name]))])
    const [limit, asked] = [first[name], takenBy(wanted, counter)]
    for (const window of windows) {
      const countOf = ({ counts }: Key) => counts[name][window] ?? 0n
      if (counter.counts === 'loss') balance(countName(counter, window), countOf)
      else if (limit !== undefined) divide(countName(counter, window), BigInt(limit), countOf, asked)
    }
  }
  return parts.map((part, i) => ({ parts: part, fullAtUs: buckets?.[i] }))

  /** One that is asked for so much that an even part would be too little gets all. A part that is its share is not kept. */
  function divide(name: string, limit: bigint, countOf: (lane: Key) => bigint, asked: bigint): void {
    const room = lanes.reduce((left, lane) => left - countOf(lane), limit)
    const isEven = partOf(room, first.lanes, 0) >= asked
    for (const [i, part] of parts.entries()) {
      const fromWanted = (i - wanted.index + first.lanes) % first.lanes
      const more = isEven ? partOf(room, first.lanes, fromWanted) : fromWanted === 0 ? room : 0n
      const own = room > 0n ? countOf(lanes[i] as Key) + more : 0n
      if (own !== partOf(limit, first.lanes, i)) part[name] = own
    }
  }

  /** The difference for each lane by which all have taken the same. */
  function balance(name: string, countOf: (lane: Key) => bigint): void {
    const taken = lanes.reduce((sum, lane) => sum + countOf(lane), 0n)
    if (taken === 0n) return
    for (const [i, part] of parts.entries()) part[name] = partOf(taken, first.lanes, i) - countOf(lanes[i] as Key)
  }
}

/** The requests that were taken out of the buckets of the lanes until now are taken out of those of the lanes from now on. */
function bucketsOf(lanes: readonly Key[], { lanes: before, rpm }: Begun, nowMs: number): number[] {
  const first = lanes[0] as Key
  const fullAtUs = lanes.map(({ bucketFullAtUs }) => bucketFullAtUs).filter((us) => us <= latestSaneFullAtUs(nowMs))
  // Every bucket is full within a minute. The clock of an act that has waited is behind that of the requests meanwhile.
  const lastFullAtUs = Math.max(0, ...fullAtUs)
  const atMs = Math.max(nowMs, Math.ceil(lastFullAtUs / 1000) - MINUTE_MS)
  // For a request that has waited, and whose clock is behind, a bucket that is full by now is as empty as all were.
  const idleUs = Math.min(lastFullAtUs, atMs * 1000)
  const used = lanes.slice(0, before).reduce((sum, { bucketFullAtUs }, i) => {
    const share = Number(partOf(BigInt(rpm), before, i))
    return sum + share - tokensLeft(share, bucketFullAtUs, atMs)
  }, 0)
  const usedNow = BigInt(Math.ceil((used * first.rpm) / rpm))
  return lanes.slice(0, first.lanes).map((lane, i) => {
    const taken = Number(partOf(usedNow, first.lanes, i))
    return taken === 0 ? idleUs : atMs * 1000 + taken * intervalUs(rateOf(lane))
  })
}

/** Lanes with the least that they can have taken at the moment between two readings: what had ended by the second is given back. */
export function leastTaken(lanes: readonly Key[], later: readonly Key[]): Key[] {
  return lanes.map((lane) => {
    const then = later.find(({ address }) => address === lane.address)?.holds ?? {}
    const holds = Object.fromEntries(Object.entries(lane.holds).filter(([requestId]) => then[requestId]))
    const counts = Object.fromEntries(COUNTER_NAMES.map((name) => [name, { ...lane.counts[name] }])) as Key['counts']
    for (const [requestId, { amount }] of Object.entries(lane.holds)) {
      if (then[requestId]) continue
      for (const name of CREDIT_COUNTERS) {
        const window = windowOf(COUNTERS[name], ulidTimeMs(requestId))
        counts[name][window] = (counts[name][window] ?? amount) - amount
      }
      // A hold does not say how many tokens came back with it: at most all that its window had.
      counts.tpm[windowOf(COUNTERS.tpm, ulidTimeMs(requestId))] = 0n
    }
    return { ...lane, holds, counts }
  })
}

/** All lanes of a key as one: a key with all that they have taken, and with all that is left to them. */
export function sumOf(lanes: readonly Key[], nowMs: number): Key {
  const [first = undefined, ...others] = lanes
  if (!first?.lane) return first as Key
  const tokens = lanes.reduce((sum, lane) => sum + tokensOf(lane, nowMs), 0)
  const counts = Object.fromEntries(
    COUNTER_NAMES.map((name) => {
      const sums: Record<string, bigint> = {}
      for (const { counts } of lanes)
        for (const window in counts[name]) sums[window] = (sums[window] ?? 0n) + (counts[name][window] as bigint)
      return [name, sums]
    }),
  ) as Key['counts']
  const sum = (of: 'granted' | 'available' | 'spent') => lanes.reduce((total, lane) => total + lane[of], 0n)
  const used = Math.max(0, first.rpm - tokens)
  return {
    ...first,
    address: first.id,
    lane: undefined,
    lastUsedAtMs:
      others.reduce((last, { lastUsedAtMs = 0 }) => Math.max(last, lastUsedAtMs), first.lastUsedAtMs ?? 0) || undefined,
    bucketFullAtUs: used === 0 ? 0 : nowMs * 1000 + used * intervalUs(first.rpm),
    counts,
    granted: sum('granted'),
    available: sum('available'),
    spent: sum('spent'),
    holds: Object.assign({}, ...lanes.map(({ holds }) => holds)),
  }
}

/** The requests that a lane may take at this moment by its rate. */
export function tokensOf(lane: Key, nowMs: number): number {
  return lane.lane?.isClosed ? 0 : tokensLeft(rateOf(lane), lane.bucketFullAtUs, nowMs)
}
