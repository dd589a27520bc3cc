import { setTimeout as sleep } from 'node:timers/promises'

/** Waits for something to become true, or to stop throwing, and returns it. */
export async function until<T>(look: () => T | Promise<T>, withinMs = 10_000): Promise<NonNullable<T>> {
  for (const startMs = Date.now(); ; await sleep(10)) {
    try {
      const seen = await look()
      if (seen) return seen
      if (Date.now() - startMs > withinMs) throw new Error(`It did not become so within ${withinMs} ms.`)
    } catch (error) {
      if (Date.now() - startMs > withinMs) throw error
    }
  }
}
