import { CONTRACTS } from '../../layers/gateway/endpoints.ts'
import { ACTS } from './history.ts'

/** Everything that histories are counted by; without one of each they would prove nothing of it. */
export const COUNTED = [
  'histories',
  'calls',
  'admissions',
  /** Admissions with keys that were made in the history. */
  'byNewKeys',
  'crashes',
  'faults',
  'pushes',
  'dayTotals',
  'exportedRows',
  'keptSums',
  'cursorsInKeys',
  'lateRows',
  /** Answers that were charged, by the contract that was spoken. */
  ...CONTRACTS,
  /** The acts that were asked for more than once under one Idempotency-Key, and done. */
  ...ACTS,
] as const

export type Totals = Record<(typeof COUNTED)[number], number>

export function newTotals(): Totals {
  return Object.fromEntries(COUNTED.map((name) => [name, 0])) as Totals
}
