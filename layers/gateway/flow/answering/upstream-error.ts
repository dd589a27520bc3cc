import { type ErrorKind, GatewayError, internalError } from '../../domain/basics/gateway-error.ts'
import { UpstreamFailure } from '../../domain/routing/upstream-failure.ts'
import { billFailure } from '../billing/owed.ts'
import { endingOf, settleInTime } from '../billing/settle.ts'
import type { AdmittedChat } from '../request.ts'
import type { ChatDeps } from './chat-deps.ts'

/** Whatever an upstream's Retry-After says, one request is let through by then. */
const LONGEST_WAIT_SECONDS = 300

export function toGatewayError(error: unknown): GatewayError {
  if (error instanceof GatewayError) return error
  if (!(error instanceof UpstreamFailure)) return internalError(error)
  const { message, reason, detail } = error
  const { code, param, status, retryAfterMs } = detail
  const told = (kind: ErrorKind, words: string, more: ConstructorParameters<typeof GatewayError>[2] = {}) =>
    new GatewayError(kind, words, more, { cause: error })
  if (reason === 'unsupported' || reason === 'rejected') {
    // No upstream was asked if there is no status: this gateway refused.
    const kind = status === undefined ? 'invalid_request' : status === 413 ? 'request_too_large' : 'upstream_rejected'
    return told(kind, message, { ...(code && { code }), ...(param && { param }) })
  }
  if (reason === 'timeout') return told('upstream_timeout', `The model did not answer in time. ${message}`)
  if (reason === 'deadline') return told('upstream_timeout', message, { retry: 'never' })
  if (reason === 'rate_limit') {
    const retry = retryAfterMs && Math.min(LONGEST_WAIT_SECONDS, Math.ceil(retryAfterMs / 1000))
    const words = `The model cannot answer at the moment. ${message} Try again later.`
    return told('upstream_rate_limited', words, { retry })
  }
  // The fault in our own credential is for the operator, in the log.
  const isOurs = reason === 'credential' || reason === 'forbidden'
  const why = isOurs ? 'The upstream did not accept this gateway.' : message
  return told('upstream_error', `The model could not answer. ${why}`)
}

/** The error of a request that no route has answered. If an upstream bills it all the same, it is settled here. */
export async function settleFailure(deps: ChatDeps, request: AdmittedChat, error: unknown): Promise<GatewayError> {
  const told = toGatewayError(error)
  const bill = await billFailure(deps, request)
  if (bill.source === 'none') return told
  // It is charged, so it was neither refused nor abandoned.
  await settleInTime(deps, request, { ...endingOf(told), outcome: 'upstream_error', bill })
  return told
}
