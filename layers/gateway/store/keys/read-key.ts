import type { Key } from '../../domain/key.ts'
import { type Item, scanItems } from '../database.ts'
import type { Tables } from '../tables.ts'
import { hashItem, keyItem, toKey } from './key-item.ts'

export type ReadKey = (keyId: string) => Promise<Key | undefined>

export function readKey(tables: Tables): ReadKey {
  const read = readKeyItem(tables)
  return async (keyId) => {
    const item = await read(keyId)
    return item && toKey(item)
  }
}

export function readKeyItem({ database, keys }: Tables) {
  return async (keyId: string): Promise<Item | undefined> => {
    const { Item } = await database.get({ TableName: keys, Key: keyItem(keyId), ConsistentRead: true })
    return Item
  }
}

export type FindKeyId = (hash: string) => Promise<string | undefined>

export function findKeyId({ database, keys }: Tables): FindKeyId {
  return async (hash) => {
    const { Item } = await database.get({
      TableName: keys,
      Key: hashItem(hash),
      ConsistentRead: true,
      ProjectionExpression: 'keyId',
    })
    return Item?.keyId as string | undefined
  }
}

export function listKeys({ database, keys }: Tables) {
  return async function* allKeys(): AsyncGenerator<Key, void, undefined> {
    const items = scanItems(database, {
      TableName: keys,
      FilterExpression: 'sk = :key',
      ExpressionAttributeValues: { ':key': 'KEY' },
      ConsistentRead: true,
    })
    for await (const item of items) yield toKey(item)
  }
}
