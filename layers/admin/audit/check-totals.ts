import { formatCredits, type Nano } from '../../gateway/domain/money/money.ts'
import { type DayTotal, isSameTotal, sumsOf } from '../../gateway/domain/rows/day-total.ts'
import { mapConcurrently } from '../../gateway/platform/map-concurrently.ts'
import type { Tables } from '../../gateway/store/dynamodb/tables.ts'
import { readDayTotal } from '../../gateway/store/rows/day-totals.ts'
import type { Finding } from './findings.ts'

/** The rows that are gone by now, as counted by the totals of their days. */
export type Expired = { readonly rows: number; readonly costs: Nano }
type Checked = { readonly findings: readonly Finding[]; readonly expired: Expired }

/** Totals that are read concurrently. */
const AT_ONCE = 16
const REMEDY =
  'A total is written once, when its day is closed, and never changed; nor are rows. Point-in-time recovery has the table as it was in the last 35 days.'

/**
 * Compares the totals of closed days with the rows of a key, which were counted. While no row of a day can have expired, they must be the
 * same. After that the rows may be fewer, and the total stands for those that are gone.
 */
export async function checkTotals(
  tables: Tables,
  counted: ReadonlyMap<string, DayTotal>,
  { keyId, nowMs }: { readonly keyId: string; readonly nowMs: number },
): Promise<Checked> {
  const read = readDayTotal(tables)
  const findings: Finding[] = []
  let [rows, costs] = [0, 0n]
  const days = mapConcurrently(counted, AT_ONCE, async ([day, there]) => [{ there, total: await read(keyId, day) }])
  for await (const { there, total } of days) {
    if (!total) findings.push(...checkNoTotal(there))
    else if (!mayHaveExpired(total, nowMs)) findings.push(...checkTotal(there, total))
    else {
      const [left, all] = [sumsOf(there), sumsOf(total)]
      rows += all.requests - left.requests
      costs += all.cost - left.cost
      if (left.requests > all.requests || left.cost > all.cost) findings.push(differs(there, total))
    }
  }
  return { findings, expired: { rows, costs } }
}

function mayHaveExpired({ rowsUntilMs }: DayTotal, nowMs: number): boolean {
  return rowsUntilMs !== undefined && rowsUntilMs <= nowMs
}

function checkNoTotal(there: DayTotal): Finding[] {
  if (there.parts.length === 0) return []
  const what = `the total of ${there.day} is missing, though the day is closed and has rows`
  return [{ what, expected: textOf(there), got: 'none', advice: REMEDY }]
}

function checkTotal(there: DayTotal, total: DayTotal): Finding[] {
  return isSameTotal(there, total) ? [] : [differs(there, total)]
}

function differs(there: DayTotal, total: DayTotal): Finding {
  const what = `the total of ${total.day} is not the sum of its rows`
  const [expected, got] = [textOf(there), textOf(total)]
  if (expected !== got) return { what, expected, got, advice: REMEDY }
  return {
    what: `${what}, though requests and credits are: models, providers, tokens or outcomes differ`,
    advice: REMEDY,
  }
}

function textOf(total: DayTotal): string {
  const { requests, cost } = sumsOf(total)
  return `${requests} requests for ${formatCredits(cost)}`
}
