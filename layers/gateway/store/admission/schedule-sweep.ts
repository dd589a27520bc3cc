import type { Key } from '../../domain/key.ts'
import { isConditionFailed, retryRejected } from '../failures.ts'
import { keyItem, sweepTime } from '../keys/key-item.ts'
import type { Tables } from '../tables.ts'

/** Sets the time at which the sweep must look at the key again: when its next hold may be of a dead request, or never. */
type ScheduleSweep = (key: Key) => Promise<void>

export function scheduleSweep({ database, keys }: Tables): ScheduleSweep {
  return async (key) => {
    const untils = Object.values(key.holds).map(({ untilMs }) => untilMs)
    const next =
      untils.length > 0
        ? {
            ConditionExpression: 'attribute_exists(pk)',
            UpdateExpression: 'SET sweepAt = :next',
            ExpressionAttributeValues: { ':next': sweepTime(Math.min(...untils)) },
          }
        : {
            ConditionExpression: 'attribute_exists(pk) AND attribute_not_exists(openHolds)',
            UpdateExpression: 'REMOVE sweepAt',
          }
    try {
      await retryRejected(() => database.update({ TableName: keys, Key: keyItem(key.id), ...next }))
    } catch (error) {
      // A request was admitted meanwhile: the key stays scheduled for the next sweep.
      if (!isConditionFailed(error)) throw error
    }
  }
}
