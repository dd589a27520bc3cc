import { hash } from 'node:crypto'
import { LONGEST_REST_MS } from '../../domain/routing/route-order.ts'
import type { UpstreamFailure } from '../../domain/routing/upstream-failure.ts'
import type { RoutedRequest, Witness } from '../request.ts'

/** Identifies a request as the witness of its route's failures, made once: its body may be long. */
export function witnessOf({ credential, priced, journey }: RoutedRequest): Witness {
  journey.witness ??= { keyId: credential.key.id, body: hash('sha1', JSON.stringify(priced.chat.body), 'base64') }
  return journey.witness
}

type RouteRecord = {
  readonly failures: number
  readonly restsUntilMs: number
  /** The first request that failed in a way that a caller may have caused; 'several' once another key's has. */
  readonly witness: Witness | 'several' | undefined
}

const HEALTHY: RouteRecord = { failures: 0, restsUntilMs: 0, witness: undefined }

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
  failed(route: string, { blame, detail }: UpstreamFailure, witnessOf: () => Witness, nowMs: number): void {
    if (blame === 'caller') return
    const record = this.#records.get(route) ?? HEALTHY
    const { failures, witness } = blame === 'route' ? plusOne(record) : testified(record, witnessOf)
    if (failures === record.failures) {
      this.#records.set(route, { ...record, witness })
      return
    }
    const doublings = failures - FAILURES_BEFORE_REST
    const restMs = doublings < 0 ? 0 : FIRST_REST_MS * 2 ** Math.min(doublings, 10) * (0.5 + this.#random() / 2)
    const askedMs = detail.retryAfterMs ?? 0
    this.#records.set(route, {
      failures,
      restsUntilMs: nowMs + Math.min(LONGEST_REST_MS, Math.max(restMs, askedMs)),
      witness,
    })
  }
}

type Count = Pick<RouteRecord, 'failures' | 'witness'>

function plusOne({ failures, witness }: RouteRecord): Count {
  return { failures: failures + 1, witness }
}

/** The first failure counts as soon as a second one, of another key with another body, confirms it. */
function testified(record: RouteRecord, witnessOf: () => Witness): Count {
  const { failures, witness } = record
  if (witness === 'several') return plusOne(record)
  const seen = witnessOf()
  if (!witness) return { failures, witness: seen }
  const isOther = seen.keyId !== witness.keyId && seen.body !== witness.body
  return isOther ? { failures: failures + 2, witness: 'several' } : { failures, witness }
}
