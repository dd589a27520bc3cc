import type { Key } from '../../gateway/domain/key.ts'
import { listKeys } from '../../gateway/store/keys/read-key.ts'
import type { Tables } from '../../gateway/store/tables.ts'

/** The time in which a console asks for the pages of a long list. */
const KEPT_MS = 10_000
/** Some 30 MB. */
const MOST_KEPT = 10_000

type Listing = { readonly atMs: number; readonly keys: readonly Key[] }
type Kept = { listing: Listing | undefined; changes: number }

const known = new WeakMap<object, Kept>()

/** All keys as they are now, in no order. Scans the table. */
export async function keysNow(tables: Tables, nowMs: number): Promise<readonly Key[]> {
  const kept = keptOf(tables)
  const { changes } = kept
  const keys = await Array.fromAsync(listKeys(tables)())
  if (kept.changes === changes) kept.listing = keys.length <= MOST_KEPT ? { atMs: nowMs, keys } : undefined
  return keys
}

/**
 * All keys, for a further page of a list: as they were when its first page was read, if that is seconds ago and nothing
 * was changed here since. A first page never comes from this cache.
 */
export async function keysOfListing(tables: Tables, nowMs: number): Promise<readonly Key[]> {
  const { listing } = keptOf(tables)
  const isRecent = listing && listing.atMs <= nowMs && nowMs < listing.atMs + KEPT_MS
  return isRecent ? listing.keys : keysNow(tables, nowMs)
}

/** A scan that is running may have read items before the change, so it is forgotten, too. */
export function forgetListing(tables: Tables): void {
  const kept = keptOf(tables)
  kept.changes += 1
  kept.listing = undefined
}

function keptOf({ database }: Tables): Kept {
  const kept = known.get(database) ?? { listing: undefined, changes: 0 }
  known.set(database, kept)
  return kept
}
