import { paginateQuery } from '@aws-sdk/lib-dynamodb'
import type { Nano } from '../../domain/money.ts'
import type { Tables } from '../tables.ts'
import { grantItem, toNano } from './key-item.ts'

export type GrantRecord = {
  readonly id: string
  readonly credits: Nano
  readonly grantedAt: string
  readonly by: string
}

/** All grants to a key, oldest first. */
type ListGrants = (keyId: string) => AsyncIterable<GrantRecord>

export function listGrants({ client, keys }: Tables): ListGrants {
  return async function* grantsOf(keyId) {
    const { pk, sk: prefix } = grantItem(keyId, '')
    const pages = paginateQuery(
      { client },
      {
        TableName: keys,
        KeyConditionExpression: 'pk = :pk AND begins_with(sk, :prefix)',
        ExpressionAttributeValues: { ':pk': pk, ':prefix': prefix },
        ConsistentRead: true,
      },
    )
    for await (const page of pages) {
      for (const { sk, credits, grantedAt, by } of page.Items ?? []) {
        yield { id: (sk as string).slice(prefix.length), credits: toNano(credits), grantedAt, by }
      }
    }
  }
}
