import { GetCommand } from '@aws-sdk/lib-dynamodb'
import type { Tables } from '../tables.ts'
import { hashItem } from './key-item.ts'

type FindKeyId = (hash: string) => Promise<string | undefined>

export function findKeyId({ client, keys }: Tables): FindKeyId {
  return async (hash) => {
    const { Item } = await client.send(
      new GetCommand({ TableName: keys, Key: hashItem(hash), ConsistentRead: true, ProjectionExpression: 'keyId' }),
    )
    return Item?.keyId as string | undefined
  }
}
