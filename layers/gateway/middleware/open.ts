import { GatewayError } from '../domain/gateway-error.ts'
import type { Log } from '../flow/log.ts'
import type { Endpoint, Passage } from '../flow/passage.ts'
import { internalError } from '../flow/upstream-error.ts'
import { errorEnvelope } from '../wire/error-envelope.ts'
import {
  attemptsHeader,
  costHeader,
  droppedFieldsHeader,
  type Headers,
  providerHeader,
  rateLimitHeaders,
  replayedHeader,
} from '../wire/headers.ts'
import { clientAddress } from './client-address.ts'
import type { Gate } from './gate.ts'

export type OpenDeps = {
  readonly clock: () => number
  readonly newRequestId: (nowMs: number) => string
  readonly headerPrefix: string
  readonly originSecret: string | undefined
  readonly isUnavailable: (error: unknown) => boolean
  readonly log: Log
}

/** The first gate in and the last one out: gives a request its name, and every answer its headers. */
export function open(deps: OpenDeps, endpoint: Endpoint): Gate {
  const { clock, newRequestId, headerPrefix, originSecret, isUnavailable, log } = deps
  return {
    before: ({ event, context }) => {
      const nowMs = clock()
      context.passage = {
        requestId: newRequestId(nowMs),
        nowMs,
        deadlineMs: nowMs + context.getRemainingTimeInMillis(),
        endpoint,
        sourceIp: clientAddress(event, originSecret),
        journey: { attempts: [] },
      }
    },
    after: ({ response, context }) => {
      if (!response) return
      const { passage } = context
      const replayed = passage.replay && replayedHeader(headerPrefix)
      response.headers = { ...response.headers, ...standardHeaders(passage, headerPrefix), ...replayed }
    },
    onError: (request) => {
      const { passage } = request.context
      const error = toAnswer(request.error)
      // Without a key there is no row, and without the database none that could be written: this line is all there is.
      if (error.kind === 'internal_error' || error.kind === 'service_unavailable') {
        log.problem('a request failed', request.error, passage.requestId)
      }
      request.response = {
        statusCode: error.status,
        headers: {
          'Content-Type': 'application/json',
          ...error.headers,
          ...standardHeaders(passage, headerPrefix),
        },
        body: JSON.stringify(errorEnvelope(error)),
      }
    },
  }

  function toAnswer(error: unknown): GatewayError {
    if (error instanceof GatewayError) return error
    if (!isUnavailable(error)) return internalError(error)
    const message = 'The gateway cannot reach its database at the moment, so no model was asked. Try again shortly.'
    return new GatewayError('service_unavailable', message, { headers: { 'Retry-After': '2' } }, { cause: error })
  }
}

function standardHeaders(passage: Passage, prefix: string): Headers {
  const { credential, journey, streaming } = passage
  return {
    'X-Request-Id': passage.requestId,
    ...(credential && rateLimitHeaders(credential.key, passage.nowMs)),
    ...(journey.provider && providerHeader(prefix, journey.provider)),
    ...(journey.attempts.length > 0 && attemptsHeader(prefix, journey.attempts)),
    ...(journey.droppedFields && droppedFieldsHeader(prefix, journey.droppedFields)),
    ...(!streaming && costHeader(prefix, passage.cost ?? 0n)),
  }
}
