import { setTimeout as sleep } from 'node:timers/promises'
import { heldOf, type Key } from '../layers/gateway/domain/key.ts'
import type { Nano } from '../layers/gateway/domain/money.ts'
import { queryUsageRows } from '../layers/gateway/store/query-usage-rows.ts'
import { readKey } from '../layers/gateway/store/read-key.ts'
import type { Tables } from '../layers/gateway/store/tables.ts'

export type Audit = {
  readonly id: string
  readonly name: string
  readonly granted: Nano
  readonly available: Nano
  readonly held: Nano
  readonly spent: Nano
  readonly rows: number
  readonly rowCosts: Nano
  /** granted = available + holds + spent, and nothing below zero. */
  readonly balances: boolean
  /** spent = the sum of the rows' costs. */
  readonly explained: boolean
}

const DAY_MS = 24 * 60 * 60 * 1000
const TRIES = 5

/**
 * Adds a key up. Its balance is one consistent read; its rows are many, so on a busy key the two are compared only
 * when nothing was settled between two readings of it. A row that is written but not settled yet is not counted.
 */
export async function auditKey(tables: Tables, first: Key, nowMs: number): Promise<Audit> {
  const read = readKey(tables)
  let key = first
  for (let attempt = 1; ; attempt++) {
    const sums = await sumRows(tables, key, nowMs)
    const after = (await read(key.id)) ?? key
    const wasQuiet = after.spent === key.spent && sameHolds(after, key)
    if (wasQuiet || attempt === TRIES) return toAudit(after, sums)
    key = after
    await sleep(200 * attempt)
  }
}

async function sumRows(tables: Tables, key: Key, nowMs: number) {
  let rows = 0
  let rowCosts = 0n
  for await (const row of queryUsageRows(tables)(key.id, key.createdAtMs - DAY_MS, nowMs + DAY_MS)) {
    if (key.holds[row.requestId]) continue
    rows += 1
    rowCosts += row.cost
  }
  return { rows, rowCosts }
}

function sameHolds(a: Key, b: Key): boolean {
  const ids = Object.keys(a.holds)
  return ids.length === Object.keys(b.holds).length && ids.every((id) => b.holds[id])
}

function toAudit(key: Key, { rows, rowCosts }: { rows: number; rowCosts: Nano }): Audit {
  const held = heldOf(key)
  return {
    id: key.id,
    name: key.name,
    granted: key.granted,
    available: key.available,
    held,
    spent: key.spent,
    rows,
    rowCosts,
    balances: key.granted === key.available + held + key.spent && key.available >= 0n,
    explained: key.spent === rowCosts,
  }
}
