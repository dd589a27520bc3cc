import type { AdminKey } from '../../domain/admin-key.ts'
import { scanItems } from '../database.ts'
import type { Tables } from '../tables.ts'
import { ADMIN_KEY, toAdminKey } from './admin-key-item.ts'

type ListAdminKeys = () => AsyncIterable<AdminKey>

export function listAdminKeys({ database, keys }: Tables): ListAdminKeys {
  return async function* allAdminKeys() {
    const items = scanItems(database, {
      TableName: keys,
      FilterExpression: 'sk = :adminKey',
      ExpressionAttributeValues: { ':adminKey': ADMIN_KEY },
      ConsistentRead: true,
    })
    for await (const item of items) yield toAdminKey(item)
  }
}
