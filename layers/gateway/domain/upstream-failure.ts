import type { Embedded } from './embedding.ts'
import { plainLine } from './plain-text.ts'

export type FailureReason =
  | 'connect'
  | 'timeout'
  | 'deadline'
  | 'reset'
  | 'status'
  | 'rate_limit'
  | 'credential'
  | 'forbidden'
  | 'model_not_found'
  | 'too_large'
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

/**
 * Whose doing a failure is. The route's own counts against it at once. One that may be the route's counts when it does not
 * depend on one caller's one request. One that a caller can provoke says nothing of the route, and must not lead to what
 * costs more.
 */
export type Blame = 'route' | 'unclear' | 'caller'

type ReasonFacts = {
  readonly blame: Blame
  /** Whether a status, if there is one, decides the blame. */
  readonly isByStatus?: boolean
  /** Whether the upstream may have generated an answer, and bill it, though nobody got it. */
  readonly mayBeBilled?: boolean
  /** Whether no other route is tried. */
  readonly endsSearch?: boolean
}

const REASONS: Readonly<Record<FailureReason, ReasonFacts>> = {
  connect: { blame: 'route' },
  credential: { blame: 'route' },
  model_not_found: { blame: 'route' },
  status: { blame: 'unclear', isByStatus: true },
  rate_limit: { blame: 'unclear' },
  reset: { blame: 'unclear', mayBeBilled: true },
  protocol: { blame: 'unclear', mayBeBilled: true },
  error_event: { blame: 'unclear', isByStatus: true, mayBeBilled: true },
  empty: { blame: 'unclear', mayBeBilled: true },
  timeout: { blame: 'caller', isByStatus: true, mayBeBilled: true },
  runaway: { blame: 'caller', mayBeBilled: true },
  forbidden: { blame: 'caller' },
  too_large: { blame: 'caller', mayBeBilled: true },
  unsupported: { blame: 'caller' },
  rejected: { blame: 'caller', endsSearch: true },
  deadline: { blame: 'caller', mayBeBilled: true, endsSearch: true },
}

const UNAUTHORIZED = 401
export const TOO_MANY_REQUESTS = 429

/** Every other 4xx depends on what was sent, and so on the caller. */
function blameOfStatus(status: number): Blame {
  if (status === UNAUTHORIZED) return 'route'
  return status >= 400 && status < 500 && status !== TOO_MANY_REQUESTS ? 'caller' : 'unclear'
}

const MOST_MESSAGE_CHARS = 2_000
const MOST_NAME_CHARS = 200

/** A code and a param are the upstream's or the caller's own words, as the message is. */
function shownWords({ code, param }: FailureDetail): FailureDetail {
  return {
    ...(code !== undefined && { code: plainLine(code, MOST_NAME_CHARS) }),
    ...(param !== undefined && { param: plainLine(param, MOST_NAME_CHARS) }),
  }
}

/**
 * An upstream did not answer as it should. Two reasons are the caller's own, and their messages are written for it:
 * `rejected` is a request that is wrong wherever it goes, so no other route is tried; `unsupported` is a sound one that
 * this dialect has no words for, so another route of the same model may answer it. Every other message is ours and safe
 * to log. `forbidden` is a 402 or 403, which is about our account or about what was asked. `too_large` is a
 * request that the upstream did not take for its size, though it did not say so by a 413. `deadline` is our own limit, not
 * the upstream's fault. `rate_limit` sums up a request that every upstream turned away with a 429.
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
    super(plainLine(message, MOST_MESSAGE_CHARS), options)
    this.reason = reason
    this.detail = { ...detail, ...shownWords(detail) }
  }

  /** How an attempt that ended like this is noted: the reason, and the status if there was one. */
  get result(): string {
    return this.detail.status ? `${this.reason} ${this.detail.status}` : this.reason
  }

  get blame(): Blame {
    const { blame, isByStatus } = REASONS[this.reason]
    return isByStatus && this.detail.status !== undefined ? blameOfStatus(this.detail.status) : blame
  }

  /** A complaint of the request itself, told to the caller in its words. */
  get isCallers(): boolean {
    return this.reason === 'rejected' || this.reason === 'unsupported'
  }

  get mayBeBilled(): boolean {
    return REASONS[this.reason].mayBeBilled === true
  }

  /** Whether another route may answer what this one did not. */
  get worthAnotherRoute(): boolean {
    return REASONS[this.reason].endsSearch !== true
  }
}
