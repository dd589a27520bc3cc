import type { Demand } from '../../layers/gateway/domain/admission/admission.ts'
import type { Key } from '../../layers/gateway/domain/keys/key.ts'
import { requestIdAt } from './request-id.ts'

/** A request of this key asks admission for this: to be under way for a minute, and no credits unless it says so. */
export function demandOf({ current }: Pick<Key, 'current'>, nowMs: number, given: Partial<Demand> = {}): Demand {
  return { requestId: requestIdAt(nowMs), hash: current.hash, nowMs, hold: 0n, holdUntilMs: nowMs + 60_000, ...given }
}
