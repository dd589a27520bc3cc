import { AT_ONCE } from '../../domain/admission/shares.ts'
import type { Key } from '../../domain/keys/key.ts'
import { laneAddress } from '../../domain/keys/lane.ts'
import { scanItems, type Tables } from '../dynamodb/database.ts'
import { KEY_ITEMS, LANE_SORT_KEY } from './key-item.ts'
import { readMany } from './newest-keys.ts'
import { findId, type ItemsOf, readOne } from './rotating-item.ts'

export type ReadKey = (keyId: string) => Promise<Key | undefined>

export function readKey(tables: Tables, mostAtOnce?: number): ReadKey {
  const read = readOne(tables, KEY_ITEMS)
  return async (keyId) => {
    const key = await read(keyId)
    return key && within(key, mostAtOnce)
  }
}

/** The key with no more requests at once than the stage lets any key have. */
export function within(key: Key, mostAtOnce = Infinity): Key {
  if (key.maxConcurrent <= mostAtOnce) return key
  const { [AT_ONCE]: _, ...dealt } = key.lane?.dealt ?? {}
  return { ...key, maxConcurrent: mostAtOnce, ...(key.lane && { lane: { ...key.lane, dealt } }) }
}

/** All books of a key: a hold may lie in any of them. */
export type ReadBooks = (keyId: string) => Promise<readonly Key[]>

export type FindKeyId = (hash: string) => Promise<string | undefined>

export function findKeyId(tables: Tables): FindKeyId {
  return findId(tables, KEY_ITEMS)
}

export const listKeys = (tables: Tables) => listAll(tables, KEY_ITEMS)

/** All of a kind, or those after this one, in the order of the table, which is that of no field. */
export function listAll<K>({ database, keys }: Tables, kind: ItemsOf<K>) {
  return (afterId?: string) => {
    const input = {
      TableName: keys,
      FilterExpression: 'sk = :kind',
      ExpressionAttributeValues: { ':kind': kind.sortKey },
      ConsistentRead: true,
      ...(afterId !== undefined && { ExclusiveStartKey: kind.itemOf(afterId) }),
    }
    return scanItems(database, input, kind.toKey)
  }
}

export function readBooks(tables: Tables, mostAtOnce?: number): ReadBooks {
  const read = readKey(tables, mostAtOnce)
  return async (keyId) => {
    const first = await read(keyId)
    if (!first) return []
    const addresses = Array.from({ length: (first.lane?.made ?? 1) - 1 }, (_, i) => laneAddress(keyId, i + 1))
    const others = addresses.length > 0 ? await readMany(tables, KEY_ITEMS, addresses) : []
    return [first, ...others.map((lane) => within(lane, mostAtOnce))]
  }
}

/** The books of all keys, lane by lane, in no order. */
export function listBooks({ database, keys }: Tables): AsyncGenerator<Key> {
  const input = {
    TableName: keys,
    FilterExpression: 'sk IN (:key, :lane)',
    ExpressionAttributeValues: { ':key': KEY_ITEMS.sortKey, ':lane': LANE_SORT_KEY },
    ConsistentRead: true,
  }
  return scanItems(database, input, KEY_ITEMS.toKey)
}
