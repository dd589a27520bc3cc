import type { UsageRow } from '../../domain/usage-row.ts'
import type { Tables } from '../tables.ts'
import { toUsageRow } from './usage-item.ts'

type ReadUsageRow = (requestId: string) => Promise<UsageRow | undefined>

export function readUsageRow({ database, usage }: Tables): ReadUsageRow {
  return async (requestId) => {
    const { Item } = await database.get({ TableName: usage, Key: { requestId }, ConsistentRead: true })
    return Item && toUsageRow(Item)
  }
}
