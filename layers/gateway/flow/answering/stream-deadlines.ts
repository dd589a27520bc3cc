import { SETTLE_RESERVE_MS } from '../billing/settle.ts'
import { startDeadline } from '../deadline.ts'
import type { AdmittedChat } from '../request.ts'
import type { ChatDeps } from './chat-deps.ts'

type StreamDeadlines = {
  /** Ends the answer of the upstream, in time to settle it. */
  readonly signal: AbortSignal
  /** Leaves a client that is still behind, in time for its upstream to be drained and billed as usual. */
  readonly client: AbortSignal
  readonly clear: () => void
}

export function streamDeadlines(
  { deadlineMs, nowMs }: AdmittedChat,
  { clock, timing }: Pick<ChatDeps, 'clock' | 'timing'>,
): StreamDeadlines {
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
