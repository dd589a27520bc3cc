import { hasFailed } from '../domain/usage-row.ts'
import type { Ending } from '../flow/settle.ts'
import type { GatewayRequest, Journey } from '../request.ts'
import type { TraceContext } from './trace-context.ts'

/** A part of a request's way, by the clock. */
export type Span = { readonly name: string; readonly fromMs: number; readonly toMs: number }

type Subsegment = {
  readonly name: string
  readonly id: string
  readonly start_time: number
  readonly end_time: number
  readonly namespace?: 'remote'
  readonly error?: true
  readonly throttle?: true
  readonly fault?: true
  readonly annotations?: Readonly<Record<string, string | number | boolean>>
  readonly subsegments?: readonly Subsegment[]
}

type Told = {
  readonly request: GatewayRequest
  readonly ending: Ending
  /** The gates that were timed, in order. */
  readonly passed: readonly Span[]
  readonly settledFromMs: number
  readonly settledToMs: number
}

/**
 * One request as X-Ray takes it: a subsegment of Lambda's own segment, with a part for each step. The annotations are
 * what a trace is found by, and are all in the usage row; nothing that was said, and no secret, is in it.
 */
export function traceDocument(context: TraceContext, told: Told, newId: () => string): object {
  const { request, passed, settledFromMs, settledToMs } = told
  const gates = { name: 'gates', fromMs: request.nowMs, toMs: passed[0]?.fromMs ?? settledFromMs }
  const part = ({ name, fromMs, toMs }: Span): Subsegment => ({ name, id: newId(), ...timesOf(fromMs, toMs) })
  return {
    type: 'subsegment',
    trace_id: context.traceId,
    parent_id: context.parentId,
    id: newId(),
    name: request.endpoint.name,
    ...timesOf(request.nowMs, settledToMs),
    ...verdictOf(told.ending),
    annotations: annotationsOf(told),
    subsegments: [
      ...[gates, ...passed].map(part),
      ...attemptsOf(request, newId),
      part({ name: 'settlement', fromMs: settledFromMs, toMs: settledToMs }),
    ],
  }
}

/** Each attempt begins when the one before it has ended; when the last began is noted. */
function attemptsOf({ journey, nowMs }: GatewayRequest, newId: () => string): Subsegment[] {
  let fromMs = journey.attemptAtMs ?? nowMs
  return journey.attempts
    .map((attempt, index) => ({ ...attempt, isLast: index === journey.attempts.length - 1 }))
    .reverse()
    .map(({ isLast, ...attempt }) => {
      const { provider, result, ms } = attempt
      if (!isLast) fromMs -= ms
      const firstMs = isLast ? firstPartAt(journey, nowMs) : undefined
      return {
        name: nameOf(provider),
        namespace: 'remote' as const,
        id: newId(),
        ...timesOf(fromMs, fromMs + ms),
        ...(hasFailed(attempt) && { fault: true as const }),
        annotations: { provider, result },
        ...(firstMs !== undefined && {
          subsegments: [{ name: 'first token', id: newId(), ...timesOf(fromMs, firstMs) }],
        }),
      }
    })
    .reverse()
}

function firstPartAt({ firstPartMs }: Journey, nowMs: number): number | undefined {
  return firstPartMs === undefined ? undefined : nowMs + firstPartMs
}

function annotationsOf({ request, ending }: Told): Record<string, string | number | boolean> {
  const { priced, credential, journey } = request
  return {
    request_id: request.requestId,
    outcome: ending.outcome,
    http_status: ending.httpStatus,
    ...(credential && { key_id: credential.key.id }),
    ...(priced && { model: priced.model.id, stream: priced.chat.stream }),
    ...(journey.provider !== undefined && { provider: journey.provider }),
    ...(ending.errorCode !== undefined && { error_code: ending.errorCode }),
  }
}

/** X-Ray's words: `error` is the caller's, `fault` ours or the upstream's. A stream that broke has a 200 all the same. */
function verdictOf({ httpStatus, outcome }: Ending): Pick<Subsegment, 'error' | 'throttle' | 'fault'> {
  if (httpStatus === 429) return { error: true, throttle: true }
  if (httpStatus >= 400 && httpStatus < 500) return { error: true }
  return httpStatus >= 500 || outcome === 'upstream_error' || outcome === 'abandoned' ? { fault: true } : {}
}

/** In seconds. A clock that was set back on the way must not make a part end before it begins. */
function timesOf(fromMs: number, toMs: number): { start_time: number; end_time: number } {
  return { start_time: fromMs / 1000, end_time: Math.max(fromMs, toMs) / 1000 }
}

/** X-Ray takes only these in a name, and at most 200 of them. */
function nameOf(text: string): string {
  return text.replaceAll(/[^\p{L}\p{N}\s_.:/%&#=+\-@]/gu, '_').slice(0, 200)
}
