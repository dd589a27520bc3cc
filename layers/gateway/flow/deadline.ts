import { UpstreamFailure } from '../domain/routing/upstream-failure.ts'

/** Timers of the same length share a list, and a deadline is rarely the same number of milliseconds away. */
const ROUNDED_TO_MS = 100

/** Aborts at this time or a little before, with the message for the caller. */
export function startDeadline(atMs: number, nowMs: number, words: string): { signal: AbortSignal; clear: () => void } {
  const controller = new AbortController()
  const abort = () => controller.abort(new UpstreamFailure('deadline', words))
  const ms = Math.max(0, atMs - nowMs)
  const timer = setTimeout(abort, ms < 10 * ROUNDED_TO_MS ? ms : ms - (ms % ROUNDED_TO_MS))
  return { signal: controller.signal, clear: () => clearTimeout(timer) }
}

/** Resolves when the promise has or the time is up; throws if the promise does in that time. */
export function waitAtMost(promise: Promise<unknown>, ms: number): Promise<void> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(resolve, ms)
    const end = (settle: () => void) => {
      clearTimeout(timer)
      settle()
    }
    promise.then(
      () => end(resolve),
      (error) => end(() => reject(error)),
    )
  })
}
