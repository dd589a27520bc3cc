// A token bucket kept as one number: the moment at which it is full again (GCRA). Microseconds, so that every rpm
// has a whole interval; rounded up, so that the refill is never faster than the limit.

const MINUTE_US = 60_000_000

export function intervalUs(rpm: number): number {
  return Math.ceil(MINUTE_US / rpm)
}

/** The latest `fullAtUs` that still leaves one token to take. */
export function lastTakeableFullAtUs(rpm: number, nowMs: number): number {
  return nowMs * 1000 + (rpm - 1) * intervalUs(rpm)
}

/** A bucket that would be full later than this was taken from by a clock that is wrong. */
export function latestSaneFullAtUs(nowMs: number): number {
  return nowMs * 1000 + 2 * MINUTE_US
}

/** Clocks less than a minute apart agree. One that was further ahead must not lock the key: it leaves one token. */
export function saneFullAtUs(rpm: number, fullAtUs: number, nowMs: number): number {
  return fullAtUs > latestSaneFullAtUs(nowMs) ? lastTakeableFullAtUs(rpm, nowMs) : fullAtUs
}

export function hasToken(rpm: number, fullAtUs: number, nowMs: number): boolean {
  return rpm > 0 && saneFullAtUs(rpm, fullAtUs, nowMs) <= lastTakeableFullAtUs(rpm, nowMs)
}

export function tokensLeft(rpm: number, fullAtUs: number, nowMs: number): number {
  if (rpm < 1) return 0
  const usedUs = Math.max(0, saneFullAtUs(rpm, fullAtUs, nowMs) - nowMs * 1000)
  return Math.max(0, Math.floor(rpm - usedUs / intervalUs(rpm)))
}

export function secondsUntilFull(fullAtUs: number, nowMs: number): number {
  return Math.min(60, Math.max(0, Math.ceil((fullAtUs - nowMs * 1000) / 1_000_000)))
}

export function secondsUntilToken(rpm: number, fullAtUs: number, nowMs: number): number {
  return Math.max(0, Math.ceil((fullAtUs - lastTakeableFullAtUs(rpm, nowMs)) / 1_000_000))
}
