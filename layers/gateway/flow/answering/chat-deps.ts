import type { CountDeps, CountTokens } from '../billing/count-texts.ts'
import type { Settle } from '../billing/settle.ts'
import type { AnswerVault } from '../idempotency/answer-vault.ts'
import type { RoutingDeps } from '../routing/try-routes.ts'

/** The means by which a chat request is answered. */
export type ChatDeps = RoutingDeps &
  CountDeps & {
    /** For counts that a caller asked for, which wait behind bills. */
    readonly countLater: CountTokens
    readonly settle: Settle
    readonly vault: AnswerVault
    readonly headerPrefix: string
    readonly timing: ChatTiming
  }

export type ChatTiming = {
  /** How long a stream may wait for its first part before it is committed to a 200. */
  readonly commitAfterMs: number
  readonly keepAliveMs: number
  /** How long an answer that is whole waits to be settled. After that it goes out, and settling goes on. */
  readonly settleMs: number
  /** How long before its end a stream waits no more for a client that is behind, but drains the upstream. */
  readonly drainMs: number
  /** How long the upstreams have for an answer that is not streamed, where something in front of us gives up. */
  readonly wholeAnswerMs: number
}

export const CHAT_TIMING: ChatTiming = {
  commitAfterMs: 10_000,
  keepAliveMs: 15_000,
  settleMs: 15_000,
  drainMs: 60_000,
  wholeAnswerMs: Number.POSITIVE_INFINITY,
}
