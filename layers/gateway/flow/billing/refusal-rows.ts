import { MINUTE_MS } from '../../domain/basics/time.ts'

/** The refusals of a key in a minute on this instance: those with a row, and those that its next row of their kind will tell. */
export type Refusals = { minute: number; rows: number; untold: number }
type RefusalsOfKeys = Map<string, Refusals>

const MOST_ROWS_IN_MINUTE = 100
const MOST_KEYS = 1_000

/**
 * True if a refusal gets a row of its own. All keys share the partitions of rows, so the flood of one key would delay
 * the ends of others' requests: its refusals beyond this many a minute are only counted.
 */
export function hasOwnRow(refusals: RefusalsOfKeys, flood: string, nowMs: number): boolean {
  const minute = Math.floor(nowMs / MINUTE_MS)
  const own = refusals.get(flood) ?? { minute, rows: 0, untold: 0 }
  if (own.minute !== minute) Object.assign(own, { minute, rows: 0 })
  if (!refusals.has(flood)) forgetTold(refusals, minute)
  if (refusals.size < MOST_KEYS) refusals.set(flood, own)
  if (own.rows < MOST_ROWS_IN_MINUTE || !refusals.has(flood)) {
    own.rows += 1
    return true
  }
  own.untold += 1
  return false
}

function forgetTold(refusals: RefusalsOfKeys, minute: number): void {
  if (refusals.size < MOST_KEYS) return
  for (const [flood, own] of refusals) if (own.minute < minute && own.untold === 0) refusals.delete(flood)
}
