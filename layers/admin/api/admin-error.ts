import { plainLine, plainText } from '../../gateway/domain/basics/plain-text.ts'
import type { ApiError } from './shapes/answers.ts'

/** Kinds of refusals, which are their codes, by status and type. */
const REFUSALS = [
  [400, 'invalid_request_error', ['invalid_request', 'invalid_catalog', 'answer_too_large', 'idempotency_key_missing']],
  [401, 'invalid_request_error', ['invalid_console_token', 'invalid_local_token', 'invalid_admin_key']],
  [403, 'permission_error', ['origin_not_allowed', 'insufficient_scope', 'ip_not_allowed', 'access_denied']],
  [403, 'permission_error', ['daily_grant_exceeded', 'provider_change_denied']],
  [404, 'invalid_request_error', ['not_found']],
  [405, 'invalid_request_error', ['method_not_allowed']],
  [409, 'conflict_error', ['conflict', 'key_revoked', 'account_closed', 'external_id_taken']],
  [409, 'conflict_error', ['reference_used', 'credits_not_available', 'needs_confirmation', 'below_cost']],
  [412, 'conflict_error', ['stale_version']],
  [413, 'invalid_request_error', ['request_too_large']],
  [415, 'invalid_request_error', ['unsupported_media_type']],
  [421, 'permission_error', ['host_not_allowed']],
  [422, 'idempotency_error', ['idempotency_key_reused']],
  [428, 'invalid_request_error', ['version_required']],
  [500, 'server_error', ['internal_error']],
  [501, 'invalid_request_error', ['not_here']],
  [503, 'server_error', ['outcome_unknown', 'took_too_long', 'service_unavailable']],
] as const

export type AdminErrorKind = (typeof REFUSALS)[number][2][number]
const KINDS = new Map(REFUSALS.flatMap(([status, type, kinds]) => kinds.map((kind) => [kind, { status, type }])))
export const ADMIN_ERROR_KINDS: readonly AdminErrorKind[] = [...KINDS.keys()]

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
    const { status = 500, type = 'server_error' } = KINDS.get(kind) ?? {}
    const code = kind === 'invalid_request' ? null : kind
    this.status = status
    this.headers = headers
    const name = param === undefined ? null : plainLine(param, MOST_NAME_CHARS)
    this.envelope = { error: { message: this.message, type, param: name, code } }
  }
}
