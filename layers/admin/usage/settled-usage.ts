import { settledBefore } from '../../gateway/domain/closed-day.ts'
import type { DayTotal } from '../../gateway/domain/day-total.ts'
import type { Key } from '../../gateway/domain/key.ts'
import type { Tables } from '../../gateway/store/tables.ts'
import { INDEX_LAG_MS } from '../../gateway/store/usage/closing.ts'
import { remember } from './closed-day-totals.ts'

/** The rows of a key and day that began before a moment, added up. */
type SettledPart = { readonly beforeMs: number; readonly total: DayTotal }

/** Requests that began before this moment were settled when the key was read, by the stopwatch. */
type Proof = { readonly beforeMs: number; readonly readAtMs: number }

/** The moment before which the index is known to have every row of a key, and the proof for the next one. */
type Standing = { readonly beforeMs: number; readonly proof: Proof }

/** For 500 keys with six routes each, today and yesterday take some 3 MB; days that are never closed take more. */
const MOST_PARTS = 10_000
const MOST_KEYS = 10_000

/**
 * Caches the sums of final rows of days that are not closed yet, so that a later call reads only the rest. A row is
 * final once no request can begin before it any more nor end, which is the rule for whole days too. The index by which
 * rows are found may lag behind the table, so rows are trusted only if they are read a while after their key was.
 */
export class SettledUsage {
  readonly #stopwatch: () => number
  readonly #standings = new Map<string, Standing>()
  readonly #parts = new Map<string, SettledPart>()
  /** Replaced when the cache is forgotten: other caches of final rows are kept under it. */
  memory: object = {}

  /** The stopwatch does not jump as a clock may. */
  constructor(stopwatch: () => number = () => performance.now()) {
    this.#stopwatch = stopwatch
  }

  /** For a key that was just read: the index has every row that began before this moment, and none of them will change. */
  finalBefore(key: Key, nowMs: number): number {
    const settledMs = settledBefore(key, nowMs)
    const readAtMs = this.#stopwatch()
    const { beforeMs, proof } = this.#standings.get(key.id) ?? { beforeMs: Number.NEGATIVE_INFINITY, proof: undefined }
    const isProven = proof !== undefined && proof.readAtMs + INDEX_LAG_MS <= readAtMs
    // A hold that came late, or a clock that was set back, moves the moment back.
    const finalMs = Math.min(isProven ? proof.beforeMs : beforeMs, settledMs)
    const isLasting = proof !== undefined && !isProven && proof.beforeMs <= settledMs
    const next = isLasting ? proof : { beforeMs: settledMs, readAtMs }
    remember(this.#standings, key.id, { beforeMs: finalMs, proof: next }, MOST_KEYS)
    return finalMs
  }

  /** Undefined if it contains rows that are not final, or if DynamoDB may have deleted a row of it meanwhile. */
  partOf(keyId: string, day: string, finalMs: number, nowMs: number): SettledPart | undefined {
    const part = this.#parts.get(nameOf(keyId, day))
    if (!part || part.beforeMs > finalMs || nowMs >= (part.total.rowsUntilMs ?? Infinity)) return undefined
    return part
  }

  keep(part: SettledPart): void {
    remember(this.#parts, nameOf(part.total.keyId, part.total.day), part, MOST_PARTS)
  }

  /** During a restore, rows appear that began long ago. */
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

/** The cache of this process. */
export function settledUsage({ database }: Tables): SettledUsage {
  const settled = known.get(database) ?? new SettledUsage()
  known.set(database, settled)
  return settled
}
