import { EXPIRY_NOTICE_MS } from '../../domain/keys/notice.ts'
import { ITEMS } from '../../names.ts'
import { dueItems } from '../admission/sweep.ts'
import { ifConditionHolds, retryRejected } from '../dynamodb/conditional-writes.ts'
import type { Tables } from '../dynamodb/tables.ts'
import { keyIdOf, sweepTime } from '../keys/key-item.ts'

const SORT_KEY = 'EXPIRY'
const clockItem = (keyId: string) => ({ pk: `${ITEMS.key}${keyId}`, sk: SORT_KEY })

/**
 * An item beside a key that expires, for the time at which that is told. The key's own time to be swept cannot stand for
 * it: admission leaves an existing one as it is, and the holds of dead requests would wait for months.
 */
export function expiryClock(keyId: string, expiresAtMs: number) {
  const sweepAt = sweepTime(expiresAtMs - EXPIRY_NOTICE_MS)
  // DynamoDB deletes it with the key's expiry.
  return { ...clockItem(keyId), sweepAt, expiresAt: Math.ceil(expiresAtMs / 1000) }
}

type RungClock = { readonly keyId: string; readonly sweepAt: string }

export function findRungClocks(tables: Tables) {
  return async function* rungClocks(nowMs: number): AsyncGenerator<RungClock, void, undefined> {
    for await (const item of dueItems(tables, SORT_KEY, sweepTime(nowMs))) {
      yield { keyId: keyIdOf(item), sweepAt: item.sweepAt as string }
    }
  }
}

/** Unless it was set anew meanwhile. */
export function stopClock({ database, keys }: Tables) {
  return async ({ keyId, sweepAt }: RungClock): Promise<void> => {
    const write = {
      TableName: keys,
      Key: clockItem(keyId),
      ConditionExpression: 'sweepAt = :rung',
      UpdateExpression: 'REMOVE sweepAt',
      ExpressionAttributeValues: { ':rung': sweepAt },
    }
    await ifConditionHolds(retryRejected(() => database.update(write)))
  }
}
