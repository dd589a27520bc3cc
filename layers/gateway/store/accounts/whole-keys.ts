import { sumOf } from '../../domain/admission/deal.ts'
import { balanceOf, isPurse } from '../../domain/keys/account.ts'
import { hasOwnPool, type Key } from '../../domain/keys/key.ts'
import { mapConcurrently } from '../../platform/map-concurrently.ts'
import type { Tables } from '../dynamodb/database.ts'
import { readBooks, readKey } from '../keys/read-key.ts'
import { transfers } from './transfers.ts'

const AT_ONCE = 16

/** Keys with all of their lanes, and those that are alone with what lies in their pool. Others are as they were read. */
export function wholeKeys(tables: Tables) {
  const readAll = readBooks(tables)
  const { readAccount } = transfers(tables)
  return (firsts: readonly Key[], nowMs: number): Promise<Key[]> =>
    Array.fromAsync(mapConcurrently(firsts, AT_ONCE, async (first) => [await whole(first, nowMs)]))

  async function whole(first: Key, nowMs: number): Promise<Key> {
    if (!first.lane && !hasOwnPool(first)) return first
    const [lanes, pool] = await Promise.all([readAll(first.id), hasOwnPool(first) ? readAccount(first.id) : undefined])
    const key = sumOf(lanes, nowMs) ?? first
    if (!pool) return key
    const purses = lanes.filter(isPurse).filter(({ address }) => pool.marks[address])
    const { granted, available, spent } = balanceOf(pool, purses)
    // They are not read at one moment: credits that are given back meanwhile may be held in two of them.
    return { ...key, granted, available: available > 0n ? available : 0n, spent, purse: undefined }
  }
}

export function readWhole(tables: Tables) {
  const [read, whole] = [readKey(tables), wholeKeys(tables)]
  return async (keyId: string, nowMs: number): Promise<Key | undefined> => {
    const first = await read(keyId)
    return first && (await whole([first], nowMs))[0]
  }
}
