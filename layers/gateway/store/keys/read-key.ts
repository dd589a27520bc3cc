import type { Key } from '../../domain/key.ts'
import type { Tables } from '../tables.ts'
import { keyItem, toKey } from './key-item.ts'

type ReadKey = (keyId: string) => Promise<Key | undefined>

export function readKey({ database, keys }: Tables): ReadKey {
  return async (keyId) => {
    const { Item } = await database.get({ TableName: keys, Key: keyItem(keyId), ConsistentRead: true })
    return Item && toKey(Item)
  }
}
