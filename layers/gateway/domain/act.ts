import { ulid } from './ulid.ts'

/** What an operator does, under an id of its own: the same act sent twice is done once. */
export type Act = {
  readonly id: string
  /** An ARN of AWS's, or the name of a user of the operator's machine. */
  readonly by: string
  readonly atMs: number
}

export function newAct(by: string, nowMs: number, random: Uint8Array): Act {
  return { id: ulid(nowMs, random), by, atMs: nowMs }
}
