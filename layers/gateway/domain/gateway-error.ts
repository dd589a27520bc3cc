import { plainLine } from './plain-text.ts'

const KINDS = {
  invalid_request: [400, 'invalid_request_error', 'invalid_request'],
  upstream_rejected: [400, 'invalid_request_error', 'upstream_rejected'],
  invalid_api_key: [401, 'invalid_request_error', 'invalid_api_key'],
  credit_balance_exhausted: [402, 'insufficient_quota', 'credit_balance_exhausted'],
  direct_access_denied: [403, 'permission_error', 'direct_access_denied'],
  insufficient_scope: [403, 'permission_error', 'insufficient_scope'],
  ip_not_allowed: [403, 'permission_error', 'ip_not_allowed'],
  model_not_found: [404, 'invalid_request_error', 'model_not_found'],
  not_found: [404, 'invalid_request_error', 'not_found'],
  method_not_allowed: [405, 'invalid_request_error', 'method_not_allowed'],
  idempotency_key_in_use: [409, 'idempotency_error', 'idempotency_key_in_use'],
  idempotent_answer_not_kept: [409, 'idempotency_error', 'idempotent_answer_not_kept'],
  request_too_large: [413, 'invalid_request_error', 'request_too_large'],
  unsupported_media_type: [415, 'invalid_request_error', 'unsupported_media_type'],
  idempotency_key_reused: [422, 'idempotency_error', 'idempotency_key_reused'],
  rate_limit_exceeded: [429, 'rate_limit_error', 'rate_limit_exceeded'],
  concurrency_limit_exceeded: [429, 'rate_limit_error', 'concurrency_limit_exceeded'],
  daily_limit_exceeded: [429, 'rate_limit_error', 'daily_limit_exceeded'],
  internal_error: [500, 'server_error', 'internal_error'],
  upstream_error: [502, 'server_error', 'upstream_error'],
  key_busy: [503, 'server_error', 'key_busy'],
  service_unavailable: [503, 'server_error', 'service_unavailable'],
  upstream_rate_limited: [503, 'server_error', 'upstream_rate_limited'],
  upstream_timeout: [504, 'server_error', 'upstream_timeout'],
} as const satisfies Record<string, readonly [number, string, string]>

export type ErrorKind = keyof typeof KINDS
export const ERROR_KINDS = Object.keys(KINDS) as ErrorKind[]

/** The codes of a 400 that this gateway finds by itself, most of them OpenAI's words. */
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
  readonly headers?: Readonly<Record<string, string>>
}

/** Tells SDKs, which retry by themselves, that the same request would fail again. */
export const DO_NOT_RETRY = { 'x-should-retry': 'false' } as const

const MOST_MESSAGE_CHARS = 2_000
const MOST_NAME_CHARS = 200

/** An answer other than the one that was asked for. Its message is written for the caller, and may quote the caller's words. */
export class GatewayError extends Error {
  override readonly name = 'GatewayError'

  /** By its name, because the files beside chat's code have a copy of this class. */
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
    const [status, type, code] = KINDS[kind]
    this.kind = kind
    this.status = status
    this.type = type
    this.code = detail.code ?? code
    this.param = detail.param === undefined ? null : plainLine(detail.param, MOST_NAME_CHARS)
    this.headers = detail.headers ?? {}
  }
}

/** A request that is wrong in itself, by the field that is, if it is one. */
export function badRequest(code: RequestCode, message: string, param?: string): GatewayError {
  return new GatewayError('invalid_request', message, { code, ...(param !== undefined && { param }) })
}

export function internalError(cause: unknown): GatewayError {
  const message = 'The gateway met an unexpected problem. Its operator can find it by the X-Request-Id of this answer.'
  return new GatewayError('internal_error', message, {}, { cause })
}
