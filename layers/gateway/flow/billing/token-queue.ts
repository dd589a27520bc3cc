import { GatewayError } from '../../domain/basics/gateway-error.ts'
import type { CountTokens } from './count-texts.ts'

/** The number of counts that are made in a few seconds. */
const MOST_WAITING = 32
const MOST_WAIT_MS = 10_000

/** Counts tokens: bills at once, and counts for callers when no bill is being counted. */
export type TokenQueue = {
  readonly forBills: CountTokens
  readonly forCounts: CountTokens
}

/** One queue before the tokenizer of an instance. One count at a time, so that a bill waits for no more than that. */
export function tokenQueue(countTokens: CountTokens): TokenQueue {
  const waiting: (() => void)[] = []
  let bills = 0
  let isCounting = false

  function startNext(): void {
    if (bills > 0 || isCounting) return
    const start = waiting.shift()
    if (!start) return
    isCounting = true
    start()
  }

  function turn(): Promise<void> {
    if (waiting.length >= MOST_WAITING) throw tooManyCounts()
    const { promise, resolve, reject } = Promise.withResolvers<void>()
    const timer = setTimeout(() => {
      waiting.splice(waiting.indexOf(start), 1)
      reject(tooManyCounts())
    }, MOST_WAIT_MS)
    const start = () => {
      clearTimeout(timer)
      resolve()
    }
    waiting.push(start)
    startNext()
    return promise
  }

  return {
    forBills: async (texts, withinMs) => {
      bills += 1
      try {
        return await countTokens(texts, withinMs)
      } finally {
        bills -= 1
        startNext()
      }
    },
    forCounts: async (texts, withinMs) => {
      await turn()
      try {
        return await countTokens(texts, withinMs)
      } finally {
        isCounting = false
        startNext()
      }
    },
  }
}

/** A count is free, so only a few are allowed at once. */
export function tooManyCounts(): GatewayError {
  const message = 'Too many token counts are under way. Try again when one has ended.'
  return new GatewayError('concurrency_limit_exceeded', message)
}
