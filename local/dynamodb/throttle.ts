import type { Reason } from './failures.ts'
import { type Item, itemBytes } from './values.ts'

/** "Each partition … up to 1,000 write units per second", and an item is in one: "Burst and adaptive capacity" in the guide. */
export const WRITE_UNITS = 1_000

/** The codes in a transaction and beside one have this name in common. */
const TOO_MANY: Reason = {
  Code: 'ProvisionedThroughputExceeded',
  Message: 'Throughput exceeds the current capacity of the item (KeyRangeThroughputExceeded)',
}

/** A reason if the item at this place has had all its units, which a write takes even if its condition fails. */
export type Throttle = (place: string, old: Item | undefined, times: number) => Reason | undefined

/** Counts the write units of each item in each second. Nothing is saved up for bursts, and reads are not counted. */
export function openThrottle(unitsASecond: number, clock: () => number): Throttle {
  const taken = new Map<string, number>()
  let lastSecond = 0
  return (place, old, times) => {
    const second = Math.floor(clock() / 1000)
    if (second !== lastSecond) taken.clear()
    lastSecond = second
    const before = taken.get(place) ?? 0
    if (before >= unitsASecond) return TOO_MANY
    taken.set(place, before + times * Math.max(1, Math.ceil(itemBytes(old ?? {}) / 1024)))
    return undefined
  }
}
