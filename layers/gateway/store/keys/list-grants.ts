import type { Nano } from '../../domain/money.ts'
import { queryItems } from '../database.ts'
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

export function listGrants({ database, keys }: Tables): ListGrants {
  return async function* grantsOf(keyId) {
    const { pk, sk: prefix } = grantItem(keyId, '')
    const items = queryItems(database, {
      TableName: keys,
      KeyConditionExpression: 'pk = :pk AND begins_with(sk, :prefix)',
      ExpressionAttributeValues: { ':pk': pk, ':prefix': prefix },
      ConsistentRead: true,
    })
    for await (const { sk, credits, grantedAt, by } of items) {
      yield {
        id: (sk as string).slice(prefix.length),
        credits: toNano(credits),
        grantedAt: grantedAt as string,
        by: by as string,
      }
    }
  }
}
