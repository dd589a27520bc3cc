import { EXPIRY_NOTICE_MS } from '../../domain/keys/notice.ts'
import { ITEMS } from '../../names.ts'
import { dueItems } from '../admission/sweep.ts'
import { updateIf } from '../dynamodb/conditional-writes.ts'
import type { Item, Tables } from '../dynamodb/database.ts'
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

export function findRungClocks(tables: Tables, nowMs: number) {
  const read = (item: Item): RungClock => ({ keyId: keyIdOf(item), sweepAt: item.sweepAt as string })
  return dueItems(tables, SORT_KEY, sweepTime(nowMs), read)
}

/** Unless it was set anew meanwhile. */
export function stopClock(tables: Tables) {
  return async ({ keyId, sweepAt }: RungClock): Promise<void> => {
    await updateIf(tables, clockItem(keyId), {
      ConditionExpression: 'sweepAt = :rung',
      UpdateExpression: 'REMOVE sweepAt',
      ExpressionAttributeValues: { ':rung': sweepAt },
    })
  }
}
