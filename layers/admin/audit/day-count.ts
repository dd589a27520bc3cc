import type { Key } from '../../gateway/domain/key.ts'
import { utcDay } from '../../gateway/domain/limits.ts'
import { ulidTimeMs } from '../../gateway/domain/ulid.ts'
import type { UsageRow } from '../../gateway/domain/usage-row.ts'
import { ADMISSION_RULES } from '../../gateway/store/admission/admission-rules.ts'

/** Refusals that come before admission, or in its place. */
const NEVER_ADMITTED: ReadonlySet<string> = new Set([
  'insufficient_scope',
  'ip_not_allowed',
  'key_busy',
  ...ADMISSION_RULES.filter(({ spendsToken }) => !spendsToken).map(({ refusal }) => refusal),
])

/** A key counts what it admits on a day and remembers the last days: by that, rows that are gone can be dated. */
export class DayCount {
  readonly #key: Key
  /** Requests that were admitted and have no row, by UTC day. */
  readonly #without: Map<string, number>

  constructor(key: Key) {
    this.#key = key
    this.#without = new Map(Object.entries(key.days))
    for (const requestId in key.holds) this.#account(ulidTimeMs(requestId))
  }

  add(row: UsageRow): void {
    const refused = row.attempts.length === 0 && NEVER_ADMITTED.has(row.errorCode ?? '')
    if (!refused && !this.#key.holds[row.requestId]) this.#account(row.startedAtMs)
  }

  verdict(): string {
    const days = [...this.#without].sort()
    const gaps = days.filter(([, count]) => count > 0)
    if (gaps.length > 0) return gaps.map(([day, count]) => `requests of ${day} without a row: ${count}`).join(', ')
    return days[0] ? `every request since ${days[0][0]} has its row, so it is older` : 'since when cannot be told'
  }

  #account(atMs: number): void {
    const day = utcDay(atMs)
    const count = this.#without.get(day)
    if (count !== undefined) this.#without.set(day, count - 1)
  }
}
