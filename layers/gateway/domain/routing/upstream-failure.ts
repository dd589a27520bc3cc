import { plainLine } from '../basics/plain-text.ts'
import type { Embedded } from '../chat/embedding.ts'

type FailureDetail = {
  readonly status?: number | undefined
  readonly code?: string | undefined
  readonly param?: string | undefined
  /** The names that the upstream gave to its error, of which none can quote a prompt. */
  readonly said?: string | undefined
  readonly retryAfterMs?: number | undefined
  readonly embedded?: readonly Embedded[] | undefined
}

// The cause of a failure. 'route' counts against the route at once. 'unclear' counts if requests of several keys met it.
// 'caller' is what one body can cause: it says nothing about the route, and leads to none that costs more than is paid.
type Blame = 'route' | 'unclear' | 'caller'

type ReasonFacts = {
  readonly blame: Blame
  readonly isByStatus?: boolean
  /** Set if the upstream may bill an answer that the caller did not get: what came of it, or its cap if it was left. */
  readonly mayBeBilled?: 'what came' | 'the cap'
  readonly endsSearch?: boolean
}

const REASONS = {
  connect: { blame: 'route' },
  credential: { blame: 'route' },
  model_not_found: { blame: 'route' },
  rate_limit: { blame: 'route' },
  status: { blame: 'unclear', isByStatus: true },
  reset: { blame: 'unclear', mayBeBilled: 'what came' },
  error_event: { blame: 'unclear', isByStatus: true, mayBeBilled: 'what came' },
  timeout: { blame: 'unclear', mayBeBilled: 'the cap' },
  protocol: { blame: 'caller', mayBeBilled: 'what came' },
  empty: { blame: 'caller', mayBeBilled: 'what came' },
  runaway: { blame: 'caller', mayBeBilled: 'the cap' },
  forbidden: { blame: 'caller', isByStatus: true },
  too_large: { blame: 'caller', mayBeBilled: 'what came' },
  unsupported: { blame: 'caller' },
  rejected: { blame: 'caller', endsSearch: true },
  deadline: { blame: 'caller', mayBeBilled: 'the cap', endsSearch: true },
} as const satisfies Readonly<Record<string, ReasonFacts>>

export type FailureReason = keyof typeof REASONS

const factsOf = (reason: FailureReason): ReasonFacts => REASONS[reason]
const isReason = (text: string): text is FailureReason => Object.hasOwn(REASONS, text)

/** True of an attempt's result in a row if its answer reached nobody, and the upstream may have billed it. */
export function mayBeBilled(result: string): boolean {
  const [reason = ''] = result.split(' ')
  return reason === 'open' || (isReason(reason) && factsOf(reason).mayBeBilled !== undefined)
}

/** False of an attempt's result if the gateway itself refused the request for that route: it is no attempt. */
export const wasAsked = (result: string): boolean => result !== 'unsupported' && result !== 'rejected'

/** The rest is the provider's fault, as it is for the caller, who gets a 5xx. */
export const isCallersFault = (result: string): boolean => /^(rejected|unsupported)\b/.test(result)

export const TOO_MANY_REQUESTS = 429
/** About our own account: its key, its credit, its rate. */
const ABOUT_US: ReadonlySet<number> = new Set([401, 402, TOO_MANY_REQUESTS])

/** Every other 4xx depends on the content of the request, and so on the caller. */
function blameOfStatus(status: number): Blame {
  if (ABOUT_US.has(status)) return 'route'
  return status >= 400 && status < 500 ? 'caller' : 'unclear'
}

function blameOf(reason: FailureReason, status: number | undefined): Blame {
  const { blame, isByStatus } = factsOf(reason)
  return isByStatus && status !== undefined ? blameOfStatus(status) : blame
}

export function blameOfResult(result: string): Blame {
  const [reason = '', status] = result.split(' ')
  return isReason(reason) ? blameOf(reason, status ? Number(status) : undefined) : 'caller'
}

const MOST_MESSAGE_CHARS = 2_000
const MOST_NAME_CHARS = 200
const MOST_SAID_CHARS = 200

/** A code and a param are texts of the upstream or the caller, as the message is. */
function shownWords({ code, param }: FailureDetail): FailureDetail {
  return {
    ...(code !== undefined && { code: plainLine(code, MOST_NAME_CHARS) }),
    ...(param !== undefined && { param: plainLine(param, MOST_NAME_CHARS) }),
  }
}

/**
 * An upstream did not answer as it should. Two reasons are the caller's own, and their messages are written for the
 * caller: `rejected` is a request that is wrong for every route, so no other is tried; `unsupported` is a valid one
 * that this dialect does not support, so another route of the same model may answer it. Every other message is ours and
 * safe to log. `forbidden` is a 402, about our account, or a 403, which may be about the content. `too_large` is a request
 * that the upstream refused for its size, though not by a 413. `deadline` is our own limit, not the upstream's fault.
 * `rate_limit` stands for a request that every upstream refused with a 429.
 */
export class UpstreamFailure extends Error {
  override readonly name = 'UpstreamFailure'

  /** The name decides, because the files beside chat's code have a copy of this class. */
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

  withEmbedded(embedded: readonly Embedded[]): UpstreamFailure {
    return new UpstreamFailure(this.reason, this.message, { ...this.detail, embedded }, { cause: this.cause })
  }

  /** The result of an attempt that failed like this: the reason, and the status if there was one. */
  get result(): string {
    return this.detail.status ? `${this.reason} ${this.detail.status}` : this.reason
  }

  /** The operator reads the upstream's names or our own message in the row. One for the caller may quote the prompt. */
  get said(): string | undefined {
    const { said, status } = this.detail
    return (said ?? (this.isCallers || status ? undefined : this.message))?.slice(0, MOST_SAID_CHARS)
  }

  get blame(): Blame {
    return blameOf(this.reason, this.detail.status)
  }

  get isCallers(): boolean {
    return this.reason === 'rejected' || this.reason === 'unsupported'
  }

  get mayBeBilled(): ReasonFacts['mayBeBilled'] {
    return factsOf(this.reason).mayBeBilled
  }

  get worthAnotherRoute(): boolean {
    return factsOf(this.reason).endsSearch !== true
  }
}
