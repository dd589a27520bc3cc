import type { AdmitDeps } from '../admission/admit.ts'
import type { CountDeps, CountTokens } from '../billing/count-texts.ts'
import type { Settle } from '../billing/settle.ts'
import type { ClaimOrReplay } from '../idempotency/claim-or-replay.ts'
import type { RoutingDeps } from '../routing/try-routes.ts'

export type ChatDeps = AdmitDeps &
  RoutingDeps &
  CountDeps & {
    readonly countLater: CountTokens
    readonly settle: Settle
    readonly claimOrReplay: ClaimOrReplay
    readonly headerPrefix: string
    readonly timing: ChatTiming
  }

export type ChatTiming = {
  /** The time that a stream may wait for its first part before it is committed to a 200. */
  readonly commitAfterMs: number
  readonly keepAliveMs: number
  /** The time that a whole answer waits to be settled. After that it goes out, and settling goes on. */
  readonly settleMs: number
  /** The time before its end at which a stream no longer waits for a client that is behind, but drains the upstream. */
  readonly drainMs: number
  /** The time of the upstreams for an answer that is not streamed, if something in front of us has a timeout. */
  readonly wholeAnswerMs: number
}

export const CHAT_TIMING: ChatTiming = {
  commitAfterMs: 10_000,
  keepAliveMs: 15_000,
  settleMs: 15_000,
  drainMs: 60_000,
  wholeAnswerMs: Number.POSITIVE_INFINITY,
}
