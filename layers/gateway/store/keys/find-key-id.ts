import type { Tables } from '../tables.ts'
import { hashItem } from './key-item.ts'

type FindKeyId = (hash: string) => Promise<string | undefined>

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
