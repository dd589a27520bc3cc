import { ulid } from '../basics/time.ts'

/** An operator's change, under an id of its own: the same act sent twice is done once. */
export type Act = {
  readonly id: string
  /** An ARN of AWS, or the name of a user of the operator's machine. */
  readonly by: string
  readonly atMs: number
  /** The time of this try, which may be days later: a grant belongs to the day on which it was made. */
  readonly triedAtMs: number
  /** The time that is left for all tries of the act together. Every level that retries goes by this one deadline. */
  readonly leftMs: () => number
}

/** The time that an act has: below the timeout of the admin function, which must still tell how the act ended. */
export const ACT_MS = 25_000

export function newAct(by: string, nowMs: number, random: Uint8Array, leftMs: Act['leftMs']): Act {
  return { id: ulid(nowMs, random), by, atMs: nowMs, triedAtMs: nowMs, leftMs }
}

export function timeLeft(ms: number, clock: () => number): () => number {
  const endMs = clock() + ms
  return () => endMs - clock()
}
