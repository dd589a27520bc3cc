import { setTimeout as sleep } from 'node:timers/promises'

type RetryOptions = {
  /** Whether another try is worth it after this error. */
  readonly when: (error: unknown, pauseMs: number) => boolean
  /** The longest pause after a try; each pause is a random part of it, at least half. */
  readonly pauseMs: (attempt: number) => number
  readonly tries?: number
}

/** Tries until it succeeds, the error is not worth another try, or the tries are used up; then throws that error. */
export async function retry<T>(work: () => Promise<T>, { when, pauseMs, tries = Infinity }: RetryOptions): Promise<T> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await work()
    } catch (error) {
      const longest = pauseMs(attempt)
      if (attempt >= tries || !when(error, longest)) throw error
      await sleep(longest * (0.5 + Math.random() / 2))
    }
  }
}
