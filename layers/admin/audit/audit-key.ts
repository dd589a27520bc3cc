import { setTimeout as sleep } from 'node:timers/promises'
import { DAY_MS, MINUTE_MS } from '../../gateway/domain/basics/time.ts'
import { heldOf, type Key } from '../../gateway/domain/keys/key.ts'
import { formatCredits, type Nano } from '../../gateway/domain/money/money.ts'
import type { Tables } from '../../gateway/store/dynamodb/tables.ts'
import { type GrantRecord, listGrants } from '../../gateway/store/keys/grant-credits.ts'
import { readKey } from '../../gateway/store/keys/read-key.ts'
import { queryUsageRows } from '../../gateway/store/rows/usage-rows.ts'
import { checkBalance, checkGrants, missingFrom, noteDeadHolds } from './check-balance.ts'
import { checkRow } from './check-row.ts'
import { addClosedDays, type ClosedDays, type Progress } from './closed-days.ts'
import { type Finding, Findings } from './findings.ts'

export type Audit = {
  readonly id: string
  readonly name: string
  readonly granted: Nano
  readonly available: Nano
  readonly held: Nano
  readonly spent: Nano
  /** All rows: expired ones are counted by the totals of their days. */
  readonly rows: number
  readonly rowCosts: Nano
  /** The part of them that has expired. */
  readonly expiredRows: number
  /** granted = available + holds + spent, and nothing below zero. */
  readonly balances: boolean
  /** spent = the sum of the rows' costs. */
  readonly explained: boolean
  readonly ok: boolean
  readonly findings: readonly Finding[]
  /** The number of findings that are not listed. */
  readonly moreFindings: number
}

/** A key's grants and rows, and the key itself before and after they were read. */
type Reading = {
  readonly before: Key
  readonly after: Key
  readonly grants: readonly GrantRecord[]
  readonly rows: number
  readonly rowCosts: Nano
  readonly expiredRows: number
  readonly wrongDays: Findings
}

const TRIES = 3
const LOST_ROWS =
  'The log has a line of every request to compare the rows with; point-in-time recovery has the table as it was in the last 35 days.'

/**
 * Adds a key up, or, if the time is over before its closed days are added up, returns those that are, to go on with. Its
 * balance is one consistent read, its rows are many. So those of days that are not closed are read between two readings
 * of the key, and the costs of all must lie between `spent` at the first and at the second. On an idle key that is one
 * number; on a busy one the reading is repeated.
 */
export async function auditKey(
  tables: Tables,
  first: Key,
  nowMs: number,
  time: Pick<Progress, 'isOver' | 'begun'>,
): Promise<Audit | ClosedDays> {
  const closed = await addClosedDays(tables, first, { nowMs, ...time })
  if (!closed.isWhole) return closed
  let before = first
  for (let attempt = 1; ; attempt++) {
    const reading = await readBooks(tables, before, closed, nowMs)
    if (isFirm(reading, nowMs) || attempt === TRIES) return conclude(reading, nowMs)
    before = reading.after
    await sleep(400 * attempt)
  }
}

async function readBooks(tables: Tables, before: Key, closed: ClosedDays, nowMs: number): Promise<Reading> {
  const grants = await Array.fromAsync(listGrants(tables)(before.id))
  const wrongDays = new Findings(closed.findings)
  // Rows that may be written and not settled yet when the key is read again.
  const recent = new Map<string, Nano>()
  let [rows, rowCosts] = [closed.rows, closed.costs]
  // An audit of many keys takes its time, and meanwhile they are used.
  const range = { fromMs: Date.parse(closed.nextDay), toMs: nowMs + DAY_MS }
  for await (const row of queryUsageRows(tables)(before.id, range)) {
    rows += 1
    rowCosts += row.cost
    wrongDays.add(...checkRow(row))
    if (before.holds[row.requestId] || row.startedAtMs > nowMs - MINUTE_MS) recent.set(row.requestId, row.cost)
  }
  const after = (await readKey(tables)(before.id)) ?? before
  const open = Object.keys(after.holds).filter((requestId) => recent.has(requestId))
  return {
    before,
    after,
    grants,
    wrongDays,
    expiredRows: closed.expiredRows,
    rows: rows - open.length,
    rowCosts: open.reduce((sum, requestId) => sum - (recent.get(requestId) ?? 0n), rowCosts),
  }
}

/** The index of rows lags behind the table by a moment, so a difference on a key just used is read again. */
function isFirm(reading: Reading, nowMs: number): boolean {
  const { before, after, grants } = reading
  if (checkGrants(before, after, grants).length > 0) return false
  const wasQuiet = after.spent === before.spent
  const usedLately = after.bucketFullAtUs / 1000 > nowMs - MINUTE_MS
  return wasQuiet && (overspentOf(reading) === 0n || !usedLately)
}

/** The amount by which `spent` exceeds the rows; negative if the rows exceed it. */
function overspentOf({ before, after, rowCosts }: Reading): Nano {
  if (rowCosts < before.spent) return before.spent - rowCosts
  return rowCosts > after.spent ? after.spent - rowCosts : 0n
}

function conclude(reading: Reading, nowMs: number): Audit {
  const { before, after, grants, rows, rowCosts, expiredRows, wrongDays } = reading
  const found = new Findings()
  found.add(...checkBalance(after), ...checkGrants(before, after, grants), ...checkSpent(reading))
  found.add(...wrongDays.kept, ...noteDeadHolds(after, nowMs))
  return {
    id: after.id,
    name: after.name,
    granted: after.granted,
    available: after.available,
    held: heldOf(after),
    spent: after.spent,
    rows,
    rowCosts,
    expiredRows,
    balances: missingFrom(after) === 0n && after.available >= 0n,
    explained: overspentOf(reading) === 0n,
    ok: found.wrong === 0 && wrongDays.wrong === 0,
    findings: found.kept,
    moreFindings: found.omitted + wrongDays.omitted,
  }
}

function checkSpent(reading: Reading): Finding[] {
  const { before, after, rowCosts } = reading
  const overspent = overspentOf(reading)
  const settledMeanwhile = after.spent - before.spent
  if (overspent !== 0n) {
    const isAlone = missingFrom(after) === -overspent
    const advice = isAlone
      ? `Only spent is wrong: the rest of the key adds up with the rows. Set spent to ${formatCredits(rowCosts)} on the key item.`
      : LOST_ROWS
    return [{ what: 'spent is not the sum of the rows', expected: rowCosts, got: after.spent, advice }]
  }
  if (settledMeanwhile === 0n) return []
  const what = `${formatCredits(settledMeanwhile)} was settled while the rows were read: spent and rows agree within that`
  return [{ what, note: true, advice: 'Audit this key again when it is quiet.' }]
}
