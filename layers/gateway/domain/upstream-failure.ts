import type { Embedded } from './embedding.ts'

export type FailureReason =
  | 'connect'
  | 'timeout'
  | 'deadline'
  | 'reset'
  | 'status'
  | 'rate_limit'
  | 'credential'
  | 'rejected'
  | 'unsupported'
  | 'protocol'
  | 'error_event'
  | 'empty'
  | 'runaway'

type FailureDetail = {
  readonly status?: number | undefined
  readonly code?: string | undefined
  readonly param?: string | undefined
  /** How long the upstream asked to be left alone. */
  readonly retryAfterMs?: number | undefined
  /** The part of a batch that was embedded before another part failed. */
  readonly embedded?: Embedded | undefined
}

/** After these the upstream may have generated an answer, and bill it, though nobody got it. */
const MAY_BE_BILLED: ReadonlySet<FailureReason> = new Set([
  'timeout',
  'deadline',
  'reset',
  'protocol',
  'error_event',
  'empty',
  'runaway',
])

/**
 * An upstream did not answer as it should. Two reasons are the caller's own, and their messages are written for it:
 * `rejected` is a request that is wrong wherever it goes, so no other route is tried; `unsupported` is a sound one that
 * this dialect has no words for, so another route of the same model may answer it. Every other message is ours and safe
 * to log. `deadline` is our own limit, not the upstream's fault. `rate_limit` sums up a request that every upstream turned
 * away with a 429.
 */
export class UpstreamFailure extends Error {
  override readonly name = 'UpstreamFailure'

  /** By its name, because the files beside chat's code have a copy of this class. */
  static override [Symbol.hasInstance](value: unknown): boolean {
    return value instanceof Error && value.name === 'UpstreamFailure'
  }

  readonly reason: FailureReason
  readonly detail: FailureDetail

  constructor(reason: FailureReason, message: string, detail: FailureDetail = {}, options?: ErrorOptions) {
    super(message, options)
    this.reason = reason
    this.detail = detail
  }

  /** How an attempt that ended like this is noted: the reason, and the status if there was one. */
  get result(): string {
    return this.detail.status ? `${this.reason} ${this.detail.status}` : this.reason
  }

  /** The caller's own doing, which says nothing of the route. */
  get isCallers(): boolean {
    return this.reason === 'rejected' || this.reason === 'unsupported'
  }

  get mayBeBilled(): boolean {
    return MAY_BE_BILLED.has(this.reason)
  }

  /** Whether another route may answer what this one did not. */
  get worthAnotherRoute(): boolean {
    return this.reason !== 'rejected' && this.reason !== 'deadline'
  }
}
