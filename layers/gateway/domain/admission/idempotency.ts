import { DAY_MS } from '../basics/time.ts'

export type AnswerClaim = {
  readonly id: string
  readonly requestId: string
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

/** A longer answer is not kept. */
export const MOST_TEXT_CHARS = 2 * 1024 * 1024
