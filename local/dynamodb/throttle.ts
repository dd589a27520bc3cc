import { itemBytes } from './item-bytes.ts'
import type { Reason } from './refused-writes.ts'
import type { Item } from './value.ts'

/** "Each partition … up to 1,000 write units per second", and an item is in one: "Burst and adaptive capacity" in the guide. */
export const WRITE_UNITS = 1_000

/** The codes in a transaction and beside one have this name in common. */
const TOO_MANY: Reason = {
  Code: 'ProvisionedThroughputExceeded',
  Message: 'Throughput exceeds the current capacity of the item (KeyRangeThroughputExceeded)',
}

/** Counts the write units of each item in each second. Nothing is saved up for bursts, and reads are not counted. */
export class Throttle {
  private readonly unitsASecond: number
  private readonly clock: () => number
  private readonly taken = new Map<string, number>()
  private second = 0

  constructor(unitsASecond: number, clock: () => number) {
    this.unitsASecond = unitsASecond
    this.clock = clock
  }

  /** A reason if the item at this place has had all its units, which a write takes even if its condition fails. */
  refusal(place: string, old: Item | undefined, times: number): Reason | undefined {
    const second = Math.floor(this.clock() / 1000)
    if (second !== this.second) this.taken.clear()
    this.second = second
    const taken = this.taken.get(place) ?? 0
    if (taken >= this.unitsASecond) return TOO_MANY
    this.taken.set(place, taken + times * Math.max(1, Math.ceil(itemBytes(old ?? {}) / 1024)))
    return undefined
  }
}
