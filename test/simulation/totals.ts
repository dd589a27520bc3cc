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
  'accounts',
  /** Credits that went from the pool of an account to a purse, and back. */
  'draws',
  'returns',
  'adoptions',
  /** The refusals of keys of accounts for want of credits. */
  'refusals',
  /** Histories of keys with lanes, deals that were begun by operators and by requests, and refusals of limits by all lanes of a key. */
  'withLanes',
  'deals',
  'dealsOfRequests',
  'limitRefusals',
  /** Answers that were charged, by the contract that was spoken. */
  ...CONTRACTS,
  /** The acts that were asked for more than once under one Idempotency-Key, and done. */
  ...ACTS,
] as const

export type Totals = Record<(typeof COUNTED)[number] | 'busy', number>

export function newTotals(): Totals {
  return { ...(Object.fromEntries(COUNTED.map((name) => [name, 0])) as Totals), busy: 0 }
}
