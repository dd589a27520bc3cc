import { UpstreamFailure } from '../domain/routing/upstream-failure.ts'
import type { ChatDeps } from './answering/chat-deps.ts'
import { SETTLE_RESERVE_MS } from './billing/settle.ts'
import type { AdmittedChat } from './request.ts'

type Deadline = { readonly signal: AbortSignal; readonly clear: () => void }
type Deps = Pick<ChatDeps, 'clock' | 'timing'>

/** Timers of the same length share a list, and a deadline is rarely the same number of milliseconds away. */
const ROUNDED_TO_MS = 100

/** Aborts at this time or a little before, with the message for the caller. */
export function startDeadline(atMs: number, nowMs: number, words: string): Deadline {
  const controller = new AbortController()
  const abort = () => controller.abort(new UpstreamFailure('deadline', words))
  const ms = Math.max(0, atMs - nowMs)
  const timer = setTimeout(abort, ms < 10 * ROUNDED_TO_MS ? ms : ms - (ms % ROUNDED_TO_MS))
  return { signal: controller.signal, clear: () => clearTimeout(timer) }
}

export function wholeDeadline(
  { deadlineMs, nowMs }: AdmittedChat,
  { clock, timing }: Deps,
  words: (seconds: number) => string,
): Deadline {
  const endsAtMs = Math.min(deadlineMs - SETTLE_RESERVE_MS, nowMs + timing.wholeAnswerMs)
  return startDeadline(endsAtMs, clock(), words(Math.round((endsAtMs - nowMs) / 1000)))
}

/** `client` leaves a client that is still behind, in time for its upstream to be drained and billed as usual. */
export function streamDeadlines(
  { deadlineMs, nowMs }: AdmittedChat,
  { clock, timing }: Deps,
): Deadline & { readonly client: AbortSignal } {
  const endsAtMs = deadlineMs - SETTLE_RESERVE_MS
  const timeMs = endsAtMs - nowMs
  const words = `The answer took longer than the ${Math.round(timeMs / 1000)} s it had.`
  const answer = startDeadline(endsAtMs, clock(), words)
  const client = startDeadline(endsAtMs - Math.min(timing.drainMs, timeMs / 4), clock(), words)
  const clear = () => {
    answer.clear()
    client.clear()
  }
  return { signal: answer.signal, client: client.signal, clear }
}
