import { setTimeout as sleep } from 'node:timers/promises'

/** Resolves when the promise has or the time is up; throws if the promise does in that time. */
export async function waitAtMost(promise: Promise<unknown>, ms: number): Promise<void> {
  const timer = new AbortController()
  try {
    await Promise.race([promise, sleep(ms, undefined, { signal: timer.signal })])
  } finally {
    timer.abort()
  }
}
