import { DAY_MS, utcDay } from '../../domain/basics/time.ts'
import { isAccountId, type Key } from '../../domain/keys/key.ts'
import type { Nano } from '../../domain/money/money.ts'
import { dayAfter, daysFrom, earliestRowMs } from '../../domain/rows/closed-day.ts'
import { UsageGroups } from '../../domain/rows/day-total.ts'
import { daysOfMonth, payerIn, type StatementBooks } from '../../domain/rows/statement.ts'
import { mapConcurrently } from '../../platform/map-concurrently.ts'
import type { Tables } from '../dynamodb/database.ts'
import { listGrants } from '../keys/grant-credits.ts'
import { BATCH, readBatch } from '../keys/newest-keys.ts'
import { readClosing } from '../rows/closing.ts'
import { toDayTotal, totalKey } from '../rows/day-totals.ts'

/** A hundred keys of five years. */
export const MOST_TOTALS = 200_000
const AT_ONCE = 16
const ADOPTED = /^adopted (key_\w+)$/

export type StatementRead =
  | { readonly books: StatementBooks }
  /** A day of the month that is not closed. */
  | { readonly openDay: string }
  | { readonly totals: number }

/** The books of a key, or of an account with all keys that it ever had, at the end of a month. */
export function readStatement(tables: Tables) {
  return async (ownerId: string, all: readonly Key[], month: string): Promise<StatementRead> => {
    const { first, next } = daysOfMonth(month)
    const { closedThrough = '' } = await readClosing(tables)()
    if (dayAfter(closedThrough || '2000-01-01') < next) {
      return { openDay: closedThrough < first ? first : dayAfter(closedThrough) }
    }
    const grants = await Array.fromAsync(listGrants(tables)(ownerId))
    const isAccount = isAccountId(ownerId)
    const joins = new Map<string, (typeof grants)[number]>()
    for (const grant of isAccount ? grants : []) {
      const [, keyId = ''] = ADOPTED.exec(grant.reference ?? '') ?? []
      if (!joins.has(keyId)) joins.set(keyId, grant)
    }
    // A key that joins later brings its past then, so that an earlier statement stays as it is.
    const isThere = ({ purse }: Key) => !isAccount || payerIn(month, ownerId, purse?.adoptedAtMs) === ownerId
    const keys = all.filter(isThere).toSorted((a, b) => (a.id < b.id ? -1 : 1))
    const wanted = keys.flatMap((key) => [...daysOf(key, first, next)].map((day) => totalKey(key.id, day)))
    if (wanted.length > MOST_TOTALS) return { totals: wanted.length }
    const before = new Map<string, Nano>()
    const models = new Map(keys.map(({ id }) => [id, new UsageGroups()]))
    const batches = Array.from({ length: Math.ceil(wanted.length / BATCH) }, (_, i) =>
      wanted.slice(i * BATCH, (i + 1) * BATCH),
    )
    for await (const item of mapConcurrently(batches, AT_ONCE, (batch) => readBatch(tables, 'usage', batch))) {
      const { keyId, day, parts } = toDayTotal(item)
      for (const part of parts) {
        if (day >= first) models.get(keyId)?.add(part.model ?? '-', part)
        else before.set(keyId, (before.get(keyId) ?? 0n) + part.cost)
      }
    }
    const ofKeys = keys.map(({ id, name }) => ({
      id,
      name,
      joined: joins.get(id),
      before: before.get(id) ?? 0n,
      models: models.get(id) ?? new UsageGroups(),
    }))
    return { books: { isAccount, month, grants: grants.filter(({ grantedAt }) => grantedAt < next), keys: ofKeys } }
  }
}

/** The days before the month on which a key can have been charged, and those of the month. */
function* daysOf(key: Key, first: string, next: string): Generator<string> {
  const { lane, lastUsedAtMs } = key
  const lastCharge = lane || lastUsedAtMs === undefined ? next : utcDay(lastUsedAtMs + DAY_MS)
  for (const day of daysFrom(utcDay(earliestRowMs(key)), next)) {
    if (day < next && (day >= first || day <= lastCharge)) yield day
  }
}
