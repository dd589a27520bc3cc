/** A small generator with a seed (mulberry32): the same seed, the same numbers. */
export class Random {
  #state: number

  constructor(seed: number) {
    this.#state = Math.imul(seed ^ (seed >>> 15), 0x2c1b3c6d) | 0
  }

  next(): number {
    this.#state = (this.#state + 0x6d2b79f5) | 0
    let t = Math.imul(this.#state ^ (this.#state >>> 15), 1 | this.#state)
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t
    return ((t ^ (t >>> 14)) >>> 0) / 4_294_967_296
  }

  below(limit: number): number {
    return Math.floor(this.next() * limit)
  }

  chance(probability: number): boolean {
    return this.next() < probability
  }

  pick<T>(values: readonly T[]): T {
    return values[this.below(values.length)] as T
  }

  bytes(count: number): Uint8Array {
    const bytes = new Uint8Array(count)
    for (let i = 0; i < count; i++) bytes[i] = this.below(256)
    return bytes
  }
}

/** Each name as often as its weight says, to pick from. */
export function urn<Name extends string>(weights: Readonly<Record<Name, number>>): readonly Name[] {
  return (Object.entries(weights) as [Name, number][]).flatMap(([name, weight]) => Array<Name>(weight).fill(name))
}
