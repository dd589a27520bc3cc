import { DAY_MS } from '../basics/time.ts'

/** A request's claim to be the one that answers an Idempotency-Key. */
export type AnswerClaim = {
  /** Names the key and the Idempotency-Key together. */
  readonly id: string
  readonly requestId: string
  /** The secret under which the answer is sealed. */
  readonly secretHash: string
  readonly bodyPrint: string
  /** The time from which the request counts as dead if it has not ended. */
  readonly untilMs: number
}

/** A claim and its state. An answer that is not kept was too large, or could not be stored. */
export type KeptAnswer = AnswerClaim & {
  readonly state: 'running' | 'kept' | 'not_kept'
  readonly sealed?: Uint8Array | undefined
}

export const ANSWERS_KEPT_MS = DAY_MS
