import { requestContractOf } from '../contracts/contracts.ts'
import { ERRORS, GatewayError, internalError } from '../domain/basics/gateway-error.ts'
import { formatCredits } from '../domain/money/money.ts'
import { loweredCap } from '../domain/money/priced-request.ts'
import type { Endpoint } from '../endpoints.ts'
import { type Ending, endingOf, type SettleInTime, settleInTime } from '../flow/billing/settle.ts'
import type { GatewayEvent, GatewayRequest } from '../flow/request.ts'
import type { Log } from '../platform/log/log.ts'
import { crossOriginHeaders } from '../wire/requests/cross-origin.ts'
import {
  addRateLimits,
  attemptsText,
  droppedFieldsText,
  type Headers,
  type OwnNames,
  ownNames,
} from '../wire/requests/headers.ts'
import type { Middleware } from './gate.ts'

type OpenDeps = {
  readonly clock: () => number
  readonly newRequestId: (nowMs: number) => string
  /** The most time for a request, unless the function has less. */
  readonly mostMs: number
  readonly headerPrefix: string
  readonly log: Log
} & Faults

/** The faults of the database that are not ours. */
type Faults = {
  readonly isUnavailable: (error: unknown) => boolean
  readonly wasRejected: (error: unknown) => boolean
}

/** The first gate in and the last one out: request ids and headers. `endpoint` is that of calls to unknown paths. */
export function open(deps: OpenDeps, endpoint: Endpoint): Middleware {
  const { clock, newRequestId, mostMs, headerPrefix, log } = deps
  const forBrowsers = crossOriginHeaders(headerPrefix)
  const names = ownNames(headerPrefix)
  return {
    before: ({ event, context }) => {
      const nowMs = clock()
      context.request = {
        requestId: newRequestId(nowMs),
        nowMs,
        deadlineMs: nowMs + Math.min(context.getRemainingTimeInMillis(), mostMs),
        endpoint,
        sourceIp: event.requestContext.http.sourceIp,
        journey: { attempts: [] },
        settlement: {},
      }
    },
    after: ({ response, context, event }) => {
      if (!response) return
      const { request } = context
      const headers = { ...response.headers }
      const told = addStandardHeaders(headers, request, names)
      if (request.replay) headers[names.replayed] = 'true'
      if (isFromBrowser(event)) Object.assign(headers, forBrowsers)
      response.headers = headers
      if (isHead(event)) response.body = ''
      return told
    },
    onError: (failed) => {
      const { event } = failed
      const { request } = failed.context
      const error = toAnswer(deps, failed.error)
      // There is no row without a key: this line is the only trace. Of one that cannot be written, settling tells.
      if (error.kind === 'internal_error' || error.kind === 'service_unavailable') {
        const answer = request.credential ? undefined : endingOf(error)
        log.problem('a request failed', failed.error, request.requestId, answer)
      }
      if (error.kind === 'invalid_api_key') log.invalidKey()
      const headers = { 'Content-Type': 'application/json', ...error.headers }
      const told = addStandardHeaders(headers, withoutKey(request, error), names)
      if (isFromBrowser(event)) Object.assign(headers, forBrowsers)
      const body = requestContractOf(request.endpoint).errorBody(error, request.requestId)
      failed.response = { statusCode: error.status, headers, body: isHead(event) ? '' : JSON.stringify(body) }
      return told
    },
  }
}

function toAnswer({ isUnavailable, wasRejected }: Faults, error: unknown): GatewayError {
  if (error instanceof GatewayError) return error
  // DynamoDB bounds the writes of each item, and nearly every write of a request is to the item of its key.
  if (wasRejected(error)) {
    const message =
      "More requests of this key came at once than the database takes. No model was asked; try again shortly. If that goes on, the gateway's operator can give the key more lanes."
    return new GatewayError('key_busy', message, {}, { cause: error })
  }
  if (!isUnavailable(error)) return internalError(error)
  const message = 'The gateway cannot reach its database at the moment, so no model was asked. Try again shortly.'
  return new GatewayError('service_unavailable', message, {}, { cause: error })
}

/** A browser always sends the origin of a page that calls another address than its own. */
function isFromBrowser(event: GatewayEvent): boolean {
  return event.headers.origin !== undefined
}

function isHead(event: GatewayEvent): boolean {
  return event.requestContext.http.method === 'HEAD'
}

/** A key that turns out to be revoked, suspended or expired on the way is no key: the answer tells nothing about it. */
function withoutKey(request: GatewayRequest, { kind }: GatewayError): GatewayRequest {
  if (!ERRORS[kind].refusesKey) return request
  const { credential: _, ...rest } = request
  return rest
}

/** Waits only for the other lanes of a key that has several: they are on their way while the model answers. */
function addStandardHeaders(headers: Headers, request: GatewayRequest, names: OwnNames): Promise<void> | undefined {
  const { requestId, endpoint, credential, priced, journey, settlement, nowMs } = request
  headers['X-Request-Id'] = requestId
  // Anthropic's clients look for the id under this name.
  if (endpoint.contract === 'messages') headers['Request-Id'] = requestId
  if (credential) addRateLimits(headers, credential.key, nowMs)
  if (journey.provider) headers[names.provider] = journey.provider
  if (journey.attempts.length > 0) headers[names.attempts] = attemptsText(journey.attempts)
  if (journey.droppedFields) headers[names.dropped] = droppedFieldsText(journey.droppedFields)
  const lowered = priced && loweredCap(priced)
  if (lowered !== undefined) headers[names.lowered] = String(lowered)
  if (!settlement.streaming) headers[names.cost] = formatCredits(settlement.cost ?? 0n)
  return credential?.whole?.then((key) => addRateLimits(headers, key, nowMs))
}

/** Every call with a valid key leaves a row, however it ended. The answer of a model settles itself. */
export function record(deps: SettleInTime & Faults): Middleware {
  return {
    after: ({ context: { request }, response }) =>
      close(request, { outcome: 'completed', httpStatus: response?.statusCode ?? 200 }),
    onError: ({ context: { request }, error }) => {
      const failure = toAnswer(deps, error)
      return ERRORS[failure.kind].refusesKey ? undefined : close(request, endingOf(failure))
    },
  }

  function close(request: GatewayRequest, ending: Ending): Promise<void> | undefined {
    const { streaming, settling } = request.settlement
    return streaming || settling ? undefined : settleInTime(deps, request, ending)
  }
}
