import type { Nano } from '../../domain/money.ts'
import type { OperatorTables } from '../operator-tables.ts'
import { transact } from '../transact.ts'
import type { ChangeResult } from './change-key.ts'
import { grantItem, keyItem } from './key-item.ts'
import { readKey } from './read-key.ts'

export type Grant = { readonly id: string; readonly by: string }
type GrantCredits = (keyId: string, amount: Nano, grant: Grant, nowMs: number) => Promise<ChangeResult>

/** Credits are added to whatever is there, so a busy key needs no version check; a revoked one takes none. */
export function grantCredits(tables: OperatorTables): GrantCredits {
  const read = readKey(tables)
  return async (keyId, amount, grant, nowMs) => {
    const granted = await transact(tables, [
      {
        Update: {
          TableName: tables.keys,
          Key: keyItem(keyId),
          ConditionExpression: '#status = :active',
          UpdateExpression: 'SET granted = granted + :amount, available = available + :amount',
          ExpressionAttributeNames: { '#status': 'status' },
          ExpressionAttributeValues: { ':active': 'active', ':amount': amount },
        },
      },
      {
        Put: {
          TableName: tables.keys,
          Item: grantEntry(keyId, amount, grant, nowMs),
          ConditionExpression: 'attribute_not_exists(pk)',
        },
      },
    ])
    const key = await read(keyId)
    if (!key) return { changed: false, why: 'no_such_key' }
    return granted ? { changed: true, key } : { changed: false, why: 'revoked' }
  }
}

export function grantEntry(keyId: string, amount: Nano, { id, by }: Grant, nowMs: number) {
  return { ...grantItem(keyId, id), credits: amount, grantedAt: new Date(nowMs).toISOString(), by }
}
