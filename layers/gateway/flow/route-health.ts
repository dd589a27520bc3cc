import type { UpstreamFailure } from '../domain/upstream-failure.ts'

type RouteRecord = { failures: number; restsUntilMs: number }

/** One failure may be chance; from the second in a row a route rests. */
const FAILURES_BEFORE_REST = 2
const FIRST_REST_MS = 2_000
const LONGEST_REST_MS = 5 * 60_000

/**
 * The health of the routes, as this instance has seen it. A route that keeps failing rests, twice as long each time; then the next
 * real request tries it again. Nothing is shared between instances.
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

  /** A provider's own Retry-After is believed, up to the longest rest. */
  failed(route: string, { detail }: UpstreamFailure, nowMs: number): void {
    const failures = (this.#records.get(route)?.failures ?? 0) + 1
    const doublings = failures - FAILURES_BEFORE_REST
    const restMs = doublings < 0 ? 0 : FIRST_REST_MS * 2 ** Math.min(doublings, 10) * (0.5 + this.#random() / 2)
    const askedMs = detail.retryAfterMs ?? 0
    this.#records.set(route, {
      failures,
      restsUntilMs: nowMs + Math.min(LONGEST_REST_MS, Math.max(restMs, askedMs)),
    })
  }
}
