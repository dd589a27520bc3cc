import { setTimeout as sleep } from 'node:timers/promises'

/** Looks until what it sees is as wanted; after ten seconds returns what there is, for the test to judge. */
export async function eventually<T>(look: () => Promise<T>, isWanted: (seen: T) => boolean): Promise<T> {
  const endsAtMs = performance.now() + 10_000
  for (;;) {
    const seen = await look()
    if (isWanted(seen) || performance.now() > endsAtMs) return seen
    await sleep(20)
  }
}
