export type FailureReason =
  | 'connect'
  | 'timeout'
  | 'reset'
  | 'status'
  | 'credential'
  | 'rejected'
  | 'unsupported'
  | 'protocol'
  | 'error_event'
  | 'empty'
  | 'runaway'

export type FailureDetail = {
  readonly status?: number | undefined
  readonly code?: string | undefined
  readonly param?: string | undefined
  /** How long the upstream asked to be left alone. */
  readonly retryAfterMs?: number | undefined
}

/**
 * An upstream did not answer as it should. The message of a `rejected` failure is the provider's own and is meant for
 * the caller; every other message is ours and safe to log. `unsupported` is a request that a dialect has no words for:
 * another may have them, and if none has, the caller is told.
 */
export class UpstreamFailure extends Error {
  override readonly name = 'UpstreamFailure'
  readonly reason: FailureReason
  readonly detail: FailureDetail

  constructor(reason: FailureReason, message: string, detail: FailureDetail = {}, options?: ErrorOptions) {
    super(message, options)
    this.reason = reason
    this.detail = detail
  }

  /** Whether another route may answer what this one did not. */
  get worthAnotherRoute(): boolean {
    return this.reason !== 'rejected'
  }
}
