import { GatewayError } from '../../domain/basics/gateway-error.ts'
import { roughTokens } from '../../domain/money/least-tokens.ts'
import type { Log } from '../../platform/log/log.ts'

/** Counts the tokens of each text. Throws if no answer comes in time, and a GatewayError if it is overloaded. */
export type CountTokens = (texts: readonly string[], withinMs: number) => Promise<readonly number[]>

export type CountDeps = {
  readonly countTokens: CountTokens
  readonly clock: () => number
  readonly log: Log
}

export type Counted = { readonly tokens: readonly number[]; readonly isRough: boolean }

/** The tokens of each text, or a rough number by their characters if the tokenizer cannot be reached in time. */
export async function countTexts(
  { countTokens, clock, log }: CountDeps,
  { requestId, deadlineMs }: { readonly requestId: string; readonly deadlineMs: number },
  texts: readonly string[],
): Promise<Counted> {
  if (texts.length === 0) return { tokens: [], isRough: false }
  try {
    // The other half is left for settling.
    const tokens = await countTokens(texts, Math.max(0, deadlineMs - clock()) / 2)
    if (!areCountsOf(texts, tokens)) throw new Error('The tokenizer answered with something that is no count.')
    return { tokens, isRough: false }
  } catch (error) {
    if (error instanceof GatewayError) throw error
    log.problem('the tokenizer could not be reached, so an answer was billed by its characters', error, requestId)
    return { tokens: texts.map(roughTokens), isRough: true }
  }
}

/** A text has at least one token, and at most one for each byte. */
function areCountsOf(texts: readonly string[], tokens: readonly unknown[]): boolean {
  return (
    tokens.length === texts.length &&
    texts.every((text, i) => {
      const count = tokens[i]
      return Number.isInteger(count) && Number(count) > 0 && Number(count) <= Buffer.byteLength(text)
    })
  )
}

/** The number of counts that are made in a few seconds. */
const MOST_WAITING = 32
const MOST_WAIT_MS = 10_000

/**
 * One queue before the tokenizer of an instance: bills are counted at once, and counts for callers when no bill is being
 * counted, one at a time, so that a bill waits for no more than that.
 */
export function tokenQueue(countTokens: CountTokens): Readonly<Record<'forBills' | 'forCounts', CountTokens>> {
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
