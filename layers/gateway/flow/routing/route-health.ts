import { hash } from 'node:crypto'
import { LONGEST_REST_MS } from '../../domain/routing/route-order.ts'
import type { UpstreamFailure } from '../../domain/routing/upstream-failure.ts'
import type { Reporter, RoutedRequest } from '../request.ts'

/** Identifies a request as the reporter of its route's failures, made once: its body may be long. */
export function reporterOf({ credential, priced, journey }: RoutedRequest): Reporter {
  journey.reporter ??= { keyId: credential.key.id, body: hash('sha1', JSON.stringify(priced.chat.body), 'base64') }
  return journey.reporter
}

type RouteRecord = {
  readonly failures: number
  readonly restsUntilMs: number
  /** The first request that failed in a way that a caller may have caused; 'several' once another key's has. */
  readonly reporter: Reporter | 'several' | undefined
}

const HEALTHY: RouteRecord = { failures: 0, restsUntilMs: 0, reporter: undefined }

/** One failure may be chance; from the second in a row a route rests. */
const FAILURES_BEFORE_REST = 2
const FIRST_REST_MS = 2_000

/**
 * The health of the routes, as this instance has seen it. A route that keeps failing rests, twice as long each time;
 * then the next real request tries it again. Nothing is shared between instances. No caller can make a route rest by
 * itself, with whatever requests: other callers would pay for it, or the operator, if the next route costs more.
 */
export class RouteHealth {
  readonly #records = new Map<string, RouteRecord>()
  readonly #random: () => number

  constructor(random: () => number) {
    this.#random = random
  }

  isResting(route: string, nowMs: number): boolean {
    return (this.#records.get(route)?.restsUntilMs ?? 0) > nowMs
  }

  succeeded(route: string): void {
    this.#records.delete(route)
  }

  /** A provider's own Retry-After is respected, up to the longest rest. */
  failed(route: string, { blame, detail }: UpstreamFailure, reporterOf: () => Reporter, nowMs: number): void {
    if (blame === 'caller') return
    const record = this.#records.get(route) ?? HEALTHY
    const { failures, reporter } = blame === 'route' ? plusOne(record) : testified(record, reporterOf)
    if (failures === record.failures) {
      this.#records.set(route, { ...record, reporter })
      return
    }
    const doublings = failures - FAILURES_BEFORE_REST
    const restMs = doublings < 0 ? 0 : FIRST_REST_MS * 2 ** Math.min(doublings, 10) * (0.5 + this.#random() / 2)
    this.#records.set(route, {
      failures,
      restsUntilMs: nowMs + Math.min(LONGEST_REST_MS, Math.max(restMs, detail.retryAfterMs ?? 0)),
      reporter,
    })
  }
}

type Count = Pick<RouteRecord, 'failures' | 'reporter'>

function plusOne({ failures, reporter }: RouteRecord): Count {
  return { failures: failures + 1, reporter }
}

/** The first failure counts as soon as a second one, of another key with another body, confirms it. */
function testified(record: RouteRecord, reporterOf: () => Reporter): Count {
  const { failures, reporter } = record
  if (reporter === 'several') return plusOne(record)
  const seen = reporterOf()
  if (!reporter) return { failures, reporter: seen }
  const isOther = seen.keyId !== reporter.keyId && seen.body !== reporter.body
  return isOther ? { failures: failures + 2, reporter: 'several' } : { failures, reporter }
}
