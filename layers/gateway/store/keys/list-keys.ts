import { paginateScan } from '@aws-sdk/lib-dynamodb'
import type { Key } from '../../domain/key.ts'
import type { OperatorTables } from '../operator-tables.ts'
import { toKey } from './key-item.ts'

type ListKeys = () => AsyncIterable<Key>

export function listKeys({ client, keys }: OperatorTables): ListKeys {
  return async function* allKeys() {
    const pages = paginateScan(
      { client },
      {
        TableName: keys,
        FilterExpression: 'sk = :key',
        ExpressionAttributeValues: { ':key': 'KEY' },
        ConsistentRead: true,
      },
    )
    for await (const page of pages) for (const item of page.Items ?? []) yield toKey(item)
  }
}
