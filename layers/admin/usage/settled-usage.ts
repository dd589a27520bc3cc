import { settledBefore } from '../../gateway/domain/closed-day.ts'
import type { DayTotal } from '../../gateway/domain/day-total.ts'
import type { Key } from '../../gateway/domain/key.ts'
import type { Tables } from '../../gateway/store/tables.ts'
import { INDEX_LAG_MS } from '../../gateway/store/usage/closing.ts'
import { remember } from './remember.ts'

/** The rows of a key and day that began before a moment, added up. */
type SettledPart = { readonly beforeMs: number; readonly total: DayTotal }

/** What began before this moment was settled when the key was read, by the stopwatch. */
type Proof = { readonly beforeMs: number; readonly readAtMs: number }

/** How far the index is known to have every row of a key, and what it will be known by next. */
type Standing = { readonly beforeMs: number; readonly proof: Proof }

/** Of 500 keys with six routes each, today and yesterday are some 3 MB; days that nobody closes are more. */
const MOST_PARTS = 10_000
const MOST_KEYS = 10_000

/**
 * What is final of days that are not closed yet, so that a console which is asked again reads only the rest. A row is
 * final once no request can begin before it any more nor end, which is the rule for whole days too. The index in which
 * rows are found may be behind the table, so the rows are believed only when they are read a while after their key was.
 */
export class SettledUsage {
  readonly #stopwatch: () => number
  readonly #standings = new Map<string, Standing>()
  readonly #parts = new Map<string, SettledPart>()
  /** Another one after what was known is forgotten: for others who keep what is final. */
  memory: object = {}

  /** The stopwatch does not jump as a clock may. */
  constructor(stopwatch: () => number = () => performance.now()) {
    this.#stopwatch = stopwatch
  }

  /** Of a key that was just read: the index has every row that began before this moment, and none of them will change. */
  finalBefore(key: Key, nowMs: number): number {
    const settledMs = settledBefore(key, nowMs)
    const readAtMs = this.#stopwatch()
    const { beforeMs, proof } = this.#standings.get(key.id) ?? { beforeMs: Number.NEGATIVE_INFINITY, proof: undefined }
    const isProven = proof !== undefined && proof.readAtMs + INDEX_LAG_MS <= readAtMs
    // A hold that came late, or a clock that was set back, takes back what was known.
    const finalMs = Math.min(isProven ? proof.beforeMs : beforeMs, settledMs)
    const isLasting = proof !== undefined && !isProven && proof.beforeMs <= settledMs
    const next = isLasting ? proof : { beforeMs: settledMs, readAtMs }
    remember(this.#standings, key.id, { beforeMs: finalMs, proof: next }, MOST_KEYS)
    return finalMs
  }

  /** Nothing if it would have more than what is final, or if DynamoDB may have deleted a row of it meanwhile. */
  partOf(keyId: string, day: string, finalMs: number, nowMs: number): SettledPart | undefined {
    const part = this.#parts.get(nameOf(keyId, day))
    if (!part || part.beforeMs > finalMs || nowMs >= (part.total.rowsUntilMs ?? Infinity)) return undefined
    return part
  }

  keep(part: SettledPart): void {
    remember(this.#parts, nameOf(part.total.keyId, part.total.day), part, MOST_PARTS)
  }

  /** While a restore is under way, rows come that began long ago. */
  forget(): void {
    this.#standings.clear()
    this.#parts.clear()
    this.memory = {}
  }
}

function nameOf(keyId: string, day: string): string {
  return `${keyId} ${day}`
}

const known = new WeakMap<object, SettledUsage>()

/** That of this process. */
export function settledUsage({ database }: Tables): SettledUsage {
  const settled = known.get(database) ?? new SettledUsage()
  known.set(database, settled)
  return settled
}
