import type { Key } from '../../domain/keys/key.ts'
import { laneAddress } from '../../domain/keys/lane.ts'
import { scanItems, type Tables } from '../dynamodb/database.ts'
import { KEY_ITEMS, LANE_SORT_KEY } from './key-item.ts'
import { readMany } from './newest-keys.ts'
import { type ReadBooks, readKey, within } from './read-key.ts'

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
