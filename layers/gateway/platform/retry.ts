import { setTimeout as sleep } from 'node:timers/promises'
import type { Log } from './log/log.ts'

type RetryOptions = {
  /** True if the error is worth a retry after this pause. */
  readonly when: (error: unknown, pauseMs: number) => boolean
  /** The longest pause after a try; each pause is a random part of it, at least half. */
  readonly pauseMs: (attempt: number) => number
  readonly tries?: number
}

/** Is told the number of the attempt, from 1. */
type Work<T> = (attempt: number) => Promise<T>

/** Retries until the work succeeds, the error is not worth a retry, or the tries are used up; then throws that error. */
export function retry<T>(work: Work<T>, options: RetryOptions): Promise<T> {
  // Nearly all work succeeds at once, and then nothing else is awaited.
  return work(1).catch((error) => tryAgain(work, options, error))
}

async function tryAgain<T>(work: Work<T>, options: RetryOptions, first: unknown): Promise<T> {
  const { when, pauseMs, tries = Infinity } = options
  let error = first
  for (let attempt = 1; ; attempt++) {
    const longest = pauseMs(attempt)
    if (attempt >= tries || !when(error, longest)) throw error
    await sleep(longest * (0.5 + Math.random() / 2))
    try {
      return await work(attempt + 1)
    } catch (next) {
      error = next
    }
  }
}

/** Does a piece of work, or logs what could not be done, because one failure must not keep the rest from being done. */
export function attempter(log: Log) {
  return async <T>(what: string, work: () => Promise<T>, requestId = '-'): Promise<T | undefined> => {
    try {
      return await work()
    } catch (error) {
      log.problem(what, error, requestId)
      return undefined
    }
  }
}

/** Resolves when the work is done or the time is up; throws if the work does in that time. */
export function waitAtMost(work: Promise<unknown>, ms: number): Promise<void> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(resolve, ms)
    const end = (settle: () => void) => {
      clearTimeout(timer)
      settle()
    }
    work.then(
      () => end(resolve),
      (error) => end(() => reject(error)),
    )
  })
}
