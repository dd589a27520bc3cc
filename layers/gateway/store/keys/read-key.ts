import type { Key } from '../../domain/key.ts'
import type { Item } from '../database.ts'
import type { Tables } from '../tables.ts'
import { keyItem, toKey } from './key-item.ts'

type ReadKey = (keyId: string) => Promise<Key | undefined>

export function readKey(tables: Tables): ReadKey {
  const read = readKeyItem(tables)
  return async (keyId) => {
    const item = await read(keyId)
    return item && toKey(item)
  }
}

export function readKeyItem({ database, keys }: Tables): (keyId: string) => Promise<Item | undefined> {
  return async (keyId) => {
    const { Item } = await database.get({ TableName: keys, Key: keyItem(keyId), ConsistentRead: true })
    return Item
  }
}
