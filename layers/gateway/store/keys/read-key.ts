import { GetCommand } from '@aws-sdk/lib-dynamodb'
import type { Key } from '../../domain/key.ts'
import type { Tables } from '../tables.ts'
import { keyItem, toKey } from './key-item.ts'

type ReadKey = (keyId: string) => Promise<Key | undefined>

export function readKey({ client, keys }: Tables): ReadKey {
  return async (keyId) => {
    const { Item } = await client.send(new GetCommand({ TableName: keys, Key: keyItem(keyId), ConsistentRead: true }))
    return Item && toKey(Item)
  }
}
