import type { KeySettings } from '../keys/key-settings.ts'
import type { Lane } from '../keys/lane.ts'

// A key with several lanes has its limits in parts: whole numbers that add up to the limit, whoever asks.

type Part = Pick<KeySettings, 'lanes'> & { readonly lane?: Lane | undefined }

/** The share of a limit that a lane has unless another part was dealt out to it. All others have the limit itself. */
export function shareOf(limit: bigint, { lanes, lane }: Part): bigint {
  return lane ? partOf(limit, lanes, lane.index) : limit
}

/** The first ones get what cannot be divided. */
export function partOf(whole: bigint, parts: number, index: number): bigint {
  return whole / BigInt(parts) + (BigInt(index) < whole % BigInt(parts) ? 1n : 0n)
}

export function rateOf(key: Part & Pick<KeySettings, 'rpm'>): number {
  return key.lane ? Number(shareOf(BigInt(key.rpm), key)) : key.rpm
}

/** The name of the part of the requests at once, beside those of counters. */
export const AT_ONCE = 'atOnce'

export function atOnceOf(key: Part & Pick<KeySettings, 'maxConcurrent'>): number {
  const { maxConcurrent, lane } = key
  if (!lane) return maxConcurrent
  return Number(lane.dealt[AT_ONCE] ?? shareOf(BigInt(maxConcurrent), key))
}
