import type { Claim } from '../domain/kept-answer.ts'
import type { Log } from './log.ts'
import type { Passage } from './passage.ts'

export type KeeperDeps = {
  readonly keepAnswer: (claim: Claim, sealed: Uint8Array | undefined) => Promise<void>
  readonly dropClaim: (claim: Claim) => Promise<void>
  readonly log: Log
}

/**
 * What becomes of a request's claim to its Idempotency-Key. An answer is kept before it is settled: if we die in
 * between, it is answered again and was free; the other way round it would be charged twice.
 */
export type AnswerKeeper = {
  /** Without a text it is noted that there was an answer, too large to be kept. */
  keep(passage: Passage, text: string | undefined): Promise<void>
  drop(passage: Passage): Promise<void>
}

export function answerKeeper({ keepAnswer, dropClaim, log }: KeeperDeps): AnswerKeeper {
  return {
    keep: (passage, text) =>
      attempt(passage, 'an answer could not be kept', (claim, seal) =>
        keepAnswer(claim, text === undefined ? undefined : seal.close(text)),
      ),
    drop: (passage) => attempt(passage, 'a claim could not be dropped', dropClaim),
  }

  /** A failure costs the caller a replay, not the answer. */
  async function attempt(
    { requestId, claim }: Passage,
    what: string,
    write: (claim: Claim, seal: NonNullable<Passage['claim']>['seal']) => Promise<void>,
  ): Promise<void> {
    if (!claim) return
    try {
      await write(claim, claim.seal)
    } catch (error) {
      log.problem(what, error, requestId)
    }
  }
}
