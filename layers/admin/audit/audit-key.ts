import { setTimeout as sleep } from 'node:timers/promises'
import { DAY_MS, MINUTE_MS } from '../../gateway/domain/basics/time.ts'
import { hasOwnPool, heldOf, type Key } from '../../gateway/domain/keys/key.ts'
import { formatCredits, type Nano } from '../../gateway/domain/money/money.ts'
import { momentsOf, settledBefore } from '../../gateway/domain/rows/closed-day.ts'
import { transfers } from '../../gateway/store/accounts/transfers.ts'
import { wholeKeys } from '../../gateway/store/accounts/whole-keys.ts'
import type { Tables } from '../../gateway/store/dynamodb/database.ts'
import { listGrants } from '../../gateway/store/keys/grant-credits.ts'
import { readBooks as readLanes } from '../../gateway/store/keys/read-key.ts'
import { readClosing } from '../../gateway/store/rows/closing.ts'
import type { AuditShape } from '../api/shapes/books.ts'
import { creditTexts } from '../usage/usage-numbers.ts'
import { type AddedRows, addRows, noRows, type Reading } from './add-rows.ts'
import { checkPool } from './audit-account.ts'
import { checkBalance, checkGrants, missingFrom, noteDeadHolds } from './check-balance.ts'
import { type Finding, Findings, type InFindings } from './findings.ts'

export type Audit = InFindings<AuditShape>

type Books = Exclude<Awaited<ReturnType<typeof readBooks>>, AddedRows>

type Time = { readonly isOver: () => boolean; readonly begun?: AddedRows | undefined }

const TRIES = 3
const LOST_ROWS =
  'The log has a line of every request to compare the rows with; point-in-time recovery has the table as it was in the last 35 days.'

/**
 * Adds a key up, or, if the time is over before, returns the rows that are added up, to go on with: those of closed days,
 * and of others as far as no more can come. Its balance is one consistent read, its rows are many. So the others are read
 * between two readings of the key, and the costs of all must lie between `spent` at the first and at the second. On an
 * idle key that is one number; on a busy one the reading is repeated.
 */
export async function auditKey(tables: Tables, first: Key, nowMs: number, time: Time): Promise<Audit | AddedRows> {
  const { isOver, begun = noRows(first) } = time
  const { closedThrough = '' } = await readClosing(tables)()
  const closedMs = closedThrough === '' ? 0 : momentsOf(closedThrough).toMs
  const closed = await addRows(tables, begun, { nowMs, toMs: closedMs, closedThrough, mayStop: isOver })
  if (closed.beforeMs < closedMs) return closed
  let [before = first] = await wholeKeys(tables)([first], nowMs)
  for (let attempt = 1; ; attempt++) {
    // A second reading takes no longer than the first, which was in time.
    const mayEnd = attempt === 1 ? isOver : () => false
    const books = await readBooks(tables, before, closed, { nowMs, closedThrough, isOver: mayEnd })
    if ('beforeMs' in books) return books
    if (isFirm(books, nowMs) || attempt === TRIES) return conclude(books, await checkLanes(tables, books), nowMs)
    before = books.after
    await sleep(400 * attempt)
  }
}

async function readBooks(
  tables: Tables,
  before: Key,
  closed: AddedRows,
  { nowMs, closedThrough, isOver }: Pick<Reading, 'nowMs' | 'closedThrough'> & Time,
) {
  const grants = await Array.fromAsync(listGrants(tables)(before.id))
  // Rows that may be written and not settled yet when the key is read again.
  const recent = new Map<string, Nano>()
  const settledMs = settledBefore(before, nowMs)
  const read = await addRows(tables, closed, {
    nowMs,
    // An audit of many keys takes its time, and meanwhile they are used.
    toMs: nowMs + DAY_MS,
    closedThrough,
    mayStop: (atMs) => atMs < settledMs && isOver(),
    onRow: ({ requestId, startedAtMs, cost }) => {
      if (before.holds[requestId] || startedAtMs > nowMs - MINUTE_MS) recent.set(requestId, cost)
    },
  })
  if (read.beforeMs < nowMs + DAY_MS) return read
  const lanes = await readLanes(tables)(before.id)
  const [after = before] = await wholeKeys(tables)(lanes.slice(0, 1), nowMs)
  const open = Object.keys(after.holds).filter((requestId) => recent.has(requestId))
  const rowCosts = open.reduce((sum, requestId) => sum - (recent.get(requestId) ?? 0n), read.costs)
  // Rows of requests that were not settled when the key was read again do not count.
  return { before, after, lanes, grants, read, rows: read.rows - open.length, rowCosts }
}

/** The index of rows lags behind the table by a moment, so a difference on a key just used is read again. */
function isFirm(books: Books, nowMs: number): boolean {
  const { before, after, grants } = books
  if (checkGrants(before, after, grants, missingFrom(after)).length > 0) return false
  const wasQuiet = after.spent === before.spent
  const usedLately = after.bucketFullAtUs / 1000 > nowMs - MINUTE_MS
  return wasQuiet && (overspentOf(books) === 0n || !usedLately)
}

/** The amount by which `spent` exceeds the rows; negative if the rows exceed it. */
function overspentOf({ before, after, rowCosts }: Books): Nano {
  if (rowCosts < before.spent) return before.spent - rowCosts
  return rowCosts > after.spent ? after.spent - rowCosts : 0n
}

/** The credits of a key with a pool of its own are checked as those of an account. */
async function checkLanes(tables: Tables, { after, lanes }: Books): Promise<Findings> {
  const [first = after] = lanes
  const pool = hasOwnPool(first) ? await transfers(tables).readAccount(first.id) : undefined
  const found = pool ? (await checkPool(tables, pool)).found : new Findings()
  if (!pool) found.add(...lanes.flatMap(checkBalance))
  // Those of a revoked key that are settled have none.
  const isStrange = ({ address, status }: Key) => hasOwnPool(first) && status !== 'revoked' && !pool?.marks[address]
  for (const { address } of lanes.filter(isStrange)) found.add({ what: `the pool of the key does not know ${address}` })
  return found
}

function conclude(books: Books, found: Findings, nowMs: number): Audit {
  const { before, after, grants, rows, rowCosts, read } = books
  const { granted, available, spent } = after
  const balances = found.wrong === 0
  found.add(...checkGrants(before, after, grants, missingFrom(after)))
  found.add(...checkSpent(books))
  found.add(...read.findings.kept, ...noteDeadHolds(after, nowMs))
  return {
    object: 'audit',
    key_id: after.id,
    name: after.name,
    ...creditTexts({ granted, available, held: heldOf(after), spent }),
    rows,
    row_costs: formatCredits(rowCosts),
    expired_rows: read.expiredRows,
    balances,
    explained: overspentOf(books) === 0n,
    ok: found.wrong === 0 && read.findings.wrong === 0,
    findings: found.kept,
    more_findings: found.omitted + read.findings.omitted,
  }
}

function checkSpent(books: Books): Finding[] {
  const { before, after, lanes, rowCosts } = books
  const overspent = overspentOf(books)
  const settledMeanwhile = after.spent - before.spent
  if (overspent !== 0n) {
    const isAlone = lanes.length === 1 && missingFrom(after) === -overspent
    const advice = isAlone
      ? `Only spent is wrong: the rest of the key adds up with the rows. Set spent to ${formatCredits(rowCosts)} on the key item.`
      : LOST_ROWS
    return [{ what: 'spent is not the sum of the rows', expected: rowCosts, got: after.spent, advice }]
  }
  if (settledMeanwhile === 0n) return []
  const what = `${formatCredits(settledMeanwhile)} was settled while the rows were read: spent and rows agree within that`
  return [{ what, note: true, advice: 'Audit this key again when it is quiet.' }]
}
