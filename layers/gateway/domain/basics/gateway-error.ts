import { plainLine } from './plain-text.ts'

/** The advice to SDKs: retry after so many seconds, or never, because the same request would fail again. */
type Retry = number | 'never'

/** An error's code is its kind, unless the code that throws it sets another one. */
type ErrorRow = {
  readonly status: number
  readonly type: string
  readonly retry?: Retry
  /** The call is admitted without credits first, so that it counts against the limits, and refused by the last gate. */
  readonly countsAsRequest?: true
  /** The key opens nothing now: the answer has none of its limits, and the call leaves no row. */
  readonly refusesKey?: true
  /** Set if no upstream answered. All other errors are the caller's, or those of this gateway, by their status. */
  readonly isProviders?: true
}

const BAD_REQUEST = 'invalid_request_error'
const TOO_MUCH = 'rate_limit_error'
const FORBIDDEN = { status: 403, type: 'permission_error' } as const
const PROVIDERS = { type: 'server_error', isProviders: true } as const

/** A call that credits do not cover, of the balance or of a window. */
const NOT_COVERED = { retry: 'never', countsAsRequest: true } as const

/** The refusals of the limits in `COUNTERS`, from which their messages are made. */
const COUNTER_REFUSALS = {
  daily_limit_exceeded: { status: 429, type: TOO_MUCH, retry: 'never' },
  daily_credits_exceeded: { status: 429, type: TOO_MUCH, ...NOT_COVERED },
  monthly_credits_exceeded: { status: 429, type: TOO_MUCH, ...NOT_COVERED },
  daily_loss_exceeded: { status: 429, type: TOO_MUCH, retry: 'never' },
  token_rate_limit_exceeded: { status: 429, type: TOO_MUCH },
} as const satisfies Record<string, ErrorRow>

export const REFUSALS = {
  key_suspended: { ...FORBIDDEN, refusesKey: true },
  invalid_api_key: { status: 401, type: BAD_REQUEST, refusesKey: true },
  rate_limit_exceeded: { status: 429, type: TOO_MUCH },
  ...COUNTER_REFUSALS,
  concurrency_limit_exceeded: { status: 429, type: TOO_MUCH, retry: 1 },
  credit_balance_exhausted: { status: 402, type: 'insufficient_quota', ...NOT_COVERED },
} as const satisfies Record<string, ErrorRow>

const OTHERS = {
  invalid_request: { status: 400, type: BAD_REQUEST },
  upstream_rejected: { status: 400, type: BAD_REQUEST },
  direct_access_denied: FORBIDDEN,
  insufficient_scope: FORBIDDEN,
  ip_not_allowed: FORBIDDEN,
  model_not_allowed: FORBIDDEN,
  model_not_found: { status: 404, type: BAD_REQUEST },
  not_found: { status: 404, type: BAD_REQUEST },
  method_not_allowed: { status: 405, type: BAD_REQUEST },
  idempotency_key_in_use: { status: 409, type: 'idempotency_error', retry: 2 },
  idempotent_answer_not_kept: { status: 409, type: 'idempotency_error', retry: 'never' },
  request_too_large: { status: 413, type: BAD_REQUEST },
  unsupported_media_type: { status: 415, type: BAD_REQUEST },
  idempotency_key_reused: { status: 422, type: 'idempotency_error', retry: 'never' },
  key_busy: { status: 429, type: TOO_MUCH, retry: 1 },
  internal_error: { status: 500, type: 'server_error' },
  upstream_error: { status: 502, ...PROVIDERS },
  service_unavailable: { status: 503, type: 'server_error', retry: 2 },
  upstream_rate_limited: { status: 503, ...PROVIDERS },
  upstream_timeout: { status: 504, ...PROVIDERS },
} as const satisfies Record<string, ErrorRow>

export type CounterRefusal = keyof typeof COUNTER_REFUSALS
export type AdmissionRefusal = keyof typeof REFUSALS
export type ErrorKind = AdmissionRefusal | keyof typeof OTHERS
export const ERRORS: Readonly<Record<ErrorKind, ErrorRow>> = { ...REFUSALS, ...OTHERS }
export const ERROR_KINDS = Object.keys(ERRORS) as ErrorKind[]

/** A request was refused because of its caller, its providers failed, or this gateway is broken. */
export type Fault = 'refused' | 'failed' | 'broken'

/** The fault by the code in its row. A code that is none of ours is an upstream's, about the caller's request. */
export function faultOf(code: string): Fault {
  const kind = Object.hasOwn(ERRORS, code) ? (code as ErrorKind) : 'upstream_rejected'
  const { isProviders, status } = ERRORS[kind]
  if (status < 500) return 'refused'
  return isProviders ? 'failed' : 'broken'
}

/** The codes of a 400 that this gateway finds by itself, most of them OpenAI's. */
export const REQUEST_CODES = [
  'invalid_json',
  'invalid_body',
  'missing_required_parameter',
  'invalid_value',
  'unknown_parameter',
  'unsupported_parameter',
  'context_length_exceeded',
  'invalid_route',
  'invalid_idempotency_key',
] as const
export type RequestCode = (typeof REQUEST_CODES)[number]

type ErrorDetail = {
  readonly param?: string
  readonly code?: string
  readonly retry?: Retry | undefined
  readonly headers?: Readonly<Record<string, string>>
}

const MOST_MESSAGE_CHARS = 2_000
const MOST_NAME_CHARS = 200

/** An answer other than the one that was asked for. Its message is written for the caller, and may quote the caller's words. */
export class GatewayError extends Error {
  override readonly name = 'GatewayError'

  /** The name decides, because the files beside chat's code have a copy of this class. */
  static override [Symbol.hasInstance](value: unknown): boolean {
    return value instanceof Error && value.name === 'GatewayError'
  }

  readonly kind: ErrorKind
  readonly status: number
  readonly type: string
  readonly code: string
  readonly param: string | null
  readonly headers: Readonly<Record<string, string>>

  constructor(kind: ErrorKind, message: string, detail: ErrorDetail = {}, options?: ErrorOptions) {
    super(plainLine(message, MOST_MESSAGE_CHARS), options)
    const { status, type, retry } = ERRORS[kind]
    this.kind = kind
    this.status = status
    this.type = type
    this.code = detail.code ?? kind
    this.param = detail.param === undefined ? null : plainLine(detail.param, MOST_NAME_CHARS)
    this.headers = { ...detail.headers, ...retryHeaders(detail.retry ?? retry) }
  }
}

function retryHeaders(retry: Retry | undefined): Record<string, string> {
  if (retry === undefined) return {}
  return retry === 'never' ? { 'x-should-retry': 'false' } : { 'Retry-After': String(retry) }
}

/** A request that is wrong in itself. `param` is the field that is wrong, if it is one. */
export function badRequest(code: RequestCode, message: string, param?: string): GatewayError {
  return new GatewayError('invalid_request', message, { code, ...(param !== undefined && { param }) })
}

export function internalError(cause: unknown): GatewayError {
  const message = 'The gateway met an unexpected problem. Its operator can find it by the X-Request-Id of this answer.'
  return new GatewayError('internal_error', message, {}, { cause })
}
