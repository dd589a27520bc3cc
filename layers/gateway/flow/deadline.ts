import { UpstreamFailure } from '../domain/upstream-failure.ts'
import type { Passage } from './passage.ts'
import { SETTLE_RESERVE_MS } from './settle.ts'

/** Aborts while there is still time to settle. */
export function startDeadline(passage: Passage, nowMs: number): { signal: AbortSignal; clear: () => void } {
  const controller = new AbortController()
  const ms = Math.max(0, passage.deadlineMs - SETTLE_RESERVE_MS - nowMs)
  const timer = setTimeout(() => {
    controller.abort(new UpstreamFailure('timeout', `The answer took longer than the ${ms} ms it had.`))
  }, ms)
  return { signal: controller.signal, clear: () => clearTimeout(timer) }
}
