import { plainLine, plainText } from '../../gateway/domain/basics/plain-text.ts'
import type { ApiError } from './shapes/answers.ts'

const KINDS = {
  invalid_request: [400, 'invalid_request_error', null],
  invalid_catalog: [400, 'invalid_request_error', 'invalid_catalog'],
  answer_too_large: [400, 'invalid_request_error', 'answer_too_large'],
  idempotency_key_missing: [400, 'invalid_request_error', 'idempotency_key_missing'],
  invalid_console_token: [401, 'invalid_request_error', 'invalid_console_token'],
  invalid_local_token: [401, 'invalid_request_error', 'invalid_local_token'],
  invalid_admin_key: [401, 'invalid_request_error', 'invalid_admin_key'],
  origin_not_allowed: [403, 'permission_error', 'origin_not_allowed'],
  insufficient_scope: [403, 'permission_error', 'insufficient_scope'],
  ip_not_allowed: [403, 'permission_error', 'ip_not_allowed'],
  daily_grant_exceeded: [403, 'permission_error', 'daily_grant_exceeded'],
  provider_change_denied: [403, 'permission_error', 'provider_change_denied'],
  access_denied: [403, 'permission_error', 'access_denied'],
  not_found: [404, 'invalid_request_error', 'not_found'],
  method_not_allowed: [405, 'invalid_request_error', 'method_not_allowed'],
  conflict: [409, 'conflict_error', 'conflict'],
  key_revoked: [409, 'conflict_error', 'key_revoked'],
  account_closed: [409, 'conflict_error', 'account_closed'],
  reference_used: [409, 'conflict_error', 'reference_used'],
  credits_not_available: [409, 'conflict_error', 'credits_not_available'],
  external_id_taken: [409, 'conflict_error', 'external_id_taken'],
  needs_confirmation: [409, 'conflict_error', 'needs_confirmation'],
  below_cost: [409, 'conflict_error', 'below_cost'],
  stale_version: [412, 'conflict_error', 'stale_version'],
  request_too_large: [413, 'invalid_request_error', 'request_too_large'],
  unsupported_media_type: [415, 'invalid_request_error', 'unsupported_media_type'],
  host_not_allowed: [421, 'permission_error', 'host_not_allowed'],
  idempotency_key_reused: [422, 'idempotency_error', 'idempotency_key_reused'],
  version_required: [428, 'invalid_request_error', 'version_required'],
  internal_error: [500, 'server_error', 'internal_error'],
  not_here: [501, 'invalid_request_error', 'not_here'],
  outcome_unknown: [503, 'server_error', 'outcome_unknown'],
  took_too_long: [503, 'server_error', 'took_too_long'],
  service_unavailable: [503, 'server_error', 'service_unavailable'],
} as const satisfies Record<string, readonly [number, string, string | null]>

export type AdminErrorKind = keyof typeof KINDS
export const ADMIN_ERROR_KINDS = Object.keys(KINDS) as AdminErrorKind[]

type Detail = { readonly param?: string | undefined; readonly headers?: Readonly<Record<string, string>> }

const MOST_NAME_CHARS = 200

/** An answer other than the one that was asked for, in the gateway's envelope. Its message is written for the caller. */
export class AdminError extends Error {
  override readonly name = 'AdminError'
  readonly status: number
  readonly headers: Readonly<Record<string, string>>
  readonly envelope: ApiError

  constructor(kind: AdminErrorKind, message: string, { param, headers = {} }: Detail = {}, options?: ErrorOptions) {
    super(plainText(message), options)
    const [status, type, code] = KINDS[kind]
    this.status = status
    this.headers = headers
    const name = param === undefined ? null : plainLine(param, MOST_NAME_CHARS)
    this.envelope = { error: { message: this.message, type, param: name, code } }
  }
}
