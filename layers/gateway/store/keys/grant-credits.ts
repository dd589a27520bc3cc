import type { Act } from '../../domain/act.ts'
import { changeEvent } from '../../domain/change-event.ts'
import { formatCredits, type Nano } from '../../domain/money.ts'
import { isoTime } from '../../domain/time.ts'
import { type Allowance, requireAllowance, takeAllowance } from '../admin-keys/allowance.ts'
import { makeOnce } from '../events/make-once.ts'
import { putEvent } from '../events/put-event.ts'
import type { OperatorTables } from '../operator-tables.ts'
import type { ChangeResult } from './change-key.ts'
import { grantItem, keyItem } from './key-item.ts'
import { readKey } from './read-key.ts'

type GrantCredits = (keyId: string, amount: Nano, act: Act, allowance?: Allowance) => Promise<ChangeResult>

/**
 * Credits are added to the current balance, so a busy key needs no version check; a revoked one gets none. With an
 * allowance they are taken from it in the same transaction, or an OverAllowance is thrown.
 */
export function grantCredits(tables: OperatorTables): GrantCredits {
  const read = readKey(tables)
  return async (keyId, amount, act, allowance) => {
    const granted = await makeOnce(tables, keyId, act, [
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
          Item: grantEntry(keyId, amount, act),
          ConditionExpression: 'attribute_not_exists(pk)',
        },
      },
      ...putEvent(tables, changeEvent(act, 'key.grant', { keyId, after: { credits: formatCredits(amount) } })),
      ...(allowance ? takeAllowance(tables, allowance, amount) : []),
    ])
    const key = await read(keyId)
    if (!key) return { changed: false, why: 'no_such_key' }
    if (granted) return { changed: true, key }
    if (allowance && key.status === 'active') await requireAllowance(tables, allowance, amount)
    return { changed: false, why: 'revoked' }
  }
}

/** A grant has the id of the act that made it. */
export function grantEntry(keyId: string, amount: Nano, { id, by, atMs }: Act) {
  return { ...grantItem(keyId, id), credits: amount, grantedAt: isoTime(atMs), by }
}
