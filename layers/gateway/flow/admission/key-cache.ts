import type { Key } from '../../domain/keys/key.ts'

const MOST_KEYS = 1_000

/** Keys that this instance has met, by hash. A copy may be stale: admission proves its version in the write that uses it. */
export class KeyCache {
  readonly #keys = new Map<string, Key>()

  get(hash: string): Key | undefined {
    return this.#keys.get(hash)
  }

  put(hash: string, key: Key): void {
    this.#keys.delete(hash)
    this.#keys.set(hash, Object.keys(key.holds).length === 0 ? key : { ...key, holds: {} })
    if (this.#keys.size > MOST_KEYS) this.#keys.delete(this.#keys.keys().next().value as string)
  }

  drop(hash: string): void {
    this.#keys.delete(hash)
  }
}
