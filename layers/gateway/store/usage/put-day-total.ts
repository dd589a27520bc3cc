import { type DayTotal, isSameTotal } from '../../domain/day-total.ts'
import { isConditionFailed } from '../failures.ts'
import type { Tables } from '../tables.ts'
import { toDayTotal, toTotalItem } from './day-total-item.ts'

/** False if there is another total already, which stays: a total is written once and never changed. */
type PutDayTotal = (total: DayTotal) => Promise<boolean>

export function putDayTotal({ database, usage }: Tables): PutDayTotal {
  return async (total) => {
    try {
      await database.put({
        TableName: usage,
        Item: toTotalItem(total),
        ConditionExpression: 'attribute_not_exists(requestId)',
        ReturnValuesOnConditionCheckFailure: 'ALL_OLD',
      })
      return true
    } catch (error) {
      if (!isConditionFailed(error) || !error.Item) throw error
      return isSameTotal(toDayTotal(error.Item), total)
    }
  }
}
