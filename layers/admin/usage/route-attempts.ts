import type { Key } from '../../gateway/domain/key.ts'
import { routeKey } from '../../gateway/domain/route-order.ts'
import { DAY_MS } from '../../gateway/domain/time.ts'
import { hasFailed, type UsageRow } from '../../gateway/domain/usage-row.ts'
import type { Tables } from '../../gateway/store/tables.ts'
import { readClosing } from '../../gateway/store/usage/closing.ts'
import { queryUsageRows } from '../../gateway/store/usage/usage-rows.ts'
import { mapConcurrently } from './map-concurrently.ts'
import { type SettledUsage, settledUsage } from './settled-usage.ts'
import { latestRowMs } from './usage-rows.ts'

const QUERIES_AT_ONCE = 16
/** Some 20 MB. */
const MOST_KEPT = 200_000

type Asked = { asked: number; failed: number }
type Attempts = ReadonlyMap<string, Asked>

type Attempt = { readonly atMs: number; readonly route: string; readonly isFailed: boolean }

/** The attempts of a key within a range, by rows that are final. */
type Part = { readonly fromMs: number; readonly beforeMs: number; readonly attempts: readonly Attempt[] }

/**
 * The attempts of the last 24 hours, by the key of their route: a fallback's attempt counts for the fallback, and a
 * route that failed before it counts as failed, however the request ended. By rows and not by totals: a total has only
 * the route that answered. A second call reads only rows that were not final.
 */
export async function attemptsOf24h(
  tables: Tables,
  keys: readonly Key[],
  nowMs: number,
  settled = settledUsage(tables),
): Promise<Attempts> {
  const range = { fromMs: nowMs - DAY_MS, toMs: latestRowMs(nowMs) }
  const { isHalted } = await readClosing(tables)()
  if (isHalted) settled.forget()
  const kept = keptBeside(settled)
  const sums = new Map<string, Asked>()
  const read = async (key: Key): Promise<readonly Attempt[]> => {
    const beforeMs = isHalted ? Number.NEGATIVE_INFINITY : settled.finalBefore(key, nowMs)
    const part = kept.partOf(key.id, range.fromMs, beforeMs)
    const fromMs = Math.max(range.fromMs, part?.beforeMs ?? 0)
    const final = part?.attempts.filter(({ atMs }) => atMs >= range.fromMs) ?? []
    const rest: Attempt[] = []
    for await (const row of queryUsageRows(tables, 'attempts')(key.id, { ...range, fromMs })) {
      const attempts = row.startedAtMs < beforeMs ? final : rest
      attempts.push(...attemptsIn(row))
    }
    if (beforeMs > fromMs) kept.keep(key.id, { fromMs: range.fromMs, beforeMs, attempts: final })
    return [...final, ...rest]
  }
  for await (const { route, isFailed } of mapConcurrently(keys, QUERIES_AT_ONCE, read)) {
    const sum = sums.get(route) ?? { asked: 0, failed: 0 }
    sums.set(route, sum)
    sum.asked += 1
    if (isFailed) sum.failed += 1
  }
  return sums
}

function attemptsIn({ startedAtMs: atMs, attempts }: UsageRow): Attempt[] {
  return attempts.map((attempt) => ({ atMs, route: routeKey(attempt), isFailed: hasFailed(attempt) }))
}

class KeptAttempts {
  readonly #parts = new Map<string, Part>()
  #count = 0

  /** Undefined if it begins too late, or contains rows that are not final. */
  partOf(keyId: string, fromMs: number, finalMs: number): Part | undefined {
    const part = this.#parts.get(keyId)
    return part && part.fromMs <= fromMs && part.beforeMs <= finalMs ? part : undefined
  }

  keep(keyId: string, part: Part): void {
    this.#drop(keyId)
    this.#parts.set(keyId, part)
    this.#count += part.attempts.length
    for (const oldest of this.#parts.keys()) {
      if (this.#count <= MOST_KEPT) break
      this.#drop(oldest)
    }
  }

  #drop(keyId: string): void {
    this.#count -= this.#parts.get(keyId)?.attempts.length ?? 0
    this.#parts.delete(keyId)
  }
}

const known = new WeakMap<object, KeptAttempts>()

/** Forgotten together with the settled usage. */
function keptBeside({ memory }: SettledUsage): KeptAttempts {
  const kept = known.get(memory) ?? new KeptAttempts()
  known.set(memory, kept)
  return kept
}
