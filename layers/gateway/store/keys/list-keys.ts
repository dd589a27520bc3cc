import type { Key } from '../../domain/key.ts'
import { scanItems } from '../database.ts'
import type { Tables } from '../tables.ts'
import { toKey } from './key-item.ts'

type ListKeys = () => AsyncIterable<Key>

export function listKeys({ database, keys }: Tables): ListKeys {
  return async function* allKeys() {
    const items = scanItems(database, {
      TableName: keys,
      FilterExpression: 'sk = :key',
      ExpressionAttributeValues: { ':key': 'KEY' },
      ConsistentRead: true,
    })
    for await (const item of items) yield toKey(item)
  }
}
