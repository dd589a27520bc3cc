import type { DayTotal } from '../../domain/day-total.ts'
import type { Tables } from '../tables.ts'
import { toDayTotal, totalId } from './day-total-item.ts'

type ReadDayTotal = (keyId: string, day: string) => Promise<DayTotal | undefined>

export function readDayTotal({ database, usage }: Tables): ReadDayTotal {
  return async (keyId, day) => {
    const Key = { requestId: totalId(keyId, day) }
    const { Item } = await database.get({ TableName: usage, Key, ConsistentRead: true })
    return Item && toDayTotal(Item)
  }
}
