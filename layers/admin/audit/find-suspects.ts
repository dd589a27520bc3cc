import type { Key } from '../../gateway/domain/key.ts'
import { formatCredits, type Nano } from '../../gateway/domain/money.ts'
import type { UsageRow } from '../../gateway/domain/usage-row.ts'
import { expectedCost } from '../usage/expected-cost.ts'
import { DayCount } from './day-count.ts'
import type { Finding } from './findings.ts'

/** By how much a key is off. */
type Differences = {
  /** By how much `spent` exceeds the sum of the rows; negative if it is less. */
  readonly overspent: Nano
  /** Granted credits that are nowhere; negative if there are too many. */
  readonly missing: Nano
}

const MOST_NAMED = 10

/** Reads a key's rows once more for those that explain its differences, which were not known before. */
export async function findSuspects(
  rows: AsyncIterable<UsageRow>,
  key: Key,
  differences: Differences,
): Promise<Finding[]> {
  const { overspent } = differences
  // If `spent` alone is wrong, the balance is off by as much, and no hold has to do with it.
  const missing = differences.missing === -overspent ? 0n : differences.missing
  const size = overspent < 0n ? -overspent : overspent
  const culprits = new Named()
  const candidates = new Named()
  const holders = new Named()
  const days = new DayCount(key)
  let deviations = 0n
  for await (const row of rows) {
    days.add(row)
    if (key.holds[row.requestId]) continue
    const deviation = deviationOf(row)
    deviations += deviation
    if (overspent !== 0n && deviation === overspent) culprits.add(row, 'is wrong by exactly that: the row was changed')
    else if (row.cost !== 0n && row.cost === size) candidates.add(row, chargeSuspicion(overspent))
    const suspicion = holdSuspicion(row, missing)
    if (suspicion) holders.add(row, suspicion)
  }
  return [...explainSpent(), ...explainMissing(missing, holders)]

  function explainSpent(): Finding[] {
    if (overspent === 0n) return []
    if (!culprits.isEmpty) return culprits.findings()
    if (deviations === overspent) return [{ what: 'the rows that are wrong, as listed here, make up exactly that' }]
    return [explainRest(overspent, candidates.isEmpty, days), ...candidates.findings()]
  }
}

function deviationOf(row: UsageRow): Nano {
  const expected = expectedCost(row)
  return expected === undefined ? 0n : expected - row.cost
}

function holdSuspicion({ hold, cost }: UsageRow, missing: Nano): string | undefined {
  if (missing > 0n && hold === missing) return 'held exactly what is gone: its hold was removed and not given back?'
  if (missing > 0n && hold - cost === missing) return 'left exactly what is gone of its hold: not given back?'
  if (missing < 0n && hold === -missing) return 'held exactly what is too much: given back twice?'
  if (missing < 0n && hold - cost === -missing) return 'left exactly what is too much of its hold: given back twice?'
  return undefined
}

function chargeSuspicion(overspent: Nano): string {
  return overspent > 0n ? 'costs exactly that: charged twice?' : 'costs exactly that: not charged?'
}

function explainRest(overspent: Nano, isAll: boolean, days: DayCount): Finding {
  const unless = isAll ? '' : ', unless it is one of those that follow'
  if (overspent < 0n) {
    return {
      what: `the rows cost ${formatCredits(-overspent)} more than was spent: rows were added or changed, or spent was${unless}`,
      advice: 'The log has a line of every request to compare them with.',
    }
  }
  return {
    what: `${formatCredits(overspent)} of spent is unexplained: rows that cost as much were deleted, or spent was changed${unless}; ${days.verdict()}`,
    advice: 'The log has a line of every request; point-in-time recovery has the table as it was in the last 35 days.',
  }
}

function explainMissing(missing: Nano, holders: Named): Finding[] {
  if (missing === 0n) return []
  const unless = holders.isEmpty ? '' : ', unless it is one of those that follow'
  const what =
    missing > 0n
      ? `available was lowered, or a hold without a row was removed, by ${formatCredits(missing)}${unless}`
      : `available was raised, or a hold was, by ${formatCredits(-missing)}${unless}`
  return [{ what, advice: 'Put it right on the key item when no request is under way.' }, ...holders.findings()]
}

/** Requests to be named, a few of them. */
class Named {
  readonly #findings: Finding[] = []
  #rest = 0

  get isEmpty(): boolean {
    return this.#findings.length === 0
  }

  add({ requestId }: UsageRow, what: string): void {
    if (this.#findings.length < MOST_NAMED) {
      this.#findings.push({ requestId, what, advice: `'waybill usage show ${requestId}' explains it.` })
    } else this.#rest += 1
  }

  findings(): Finding[] {
    return this.#rest > 0 ? [...this.#findings, { what: `the same is so of ${this.#rest} more` }] : this.#findings
  }
}
