import type { Act } from '../../domain/act.ts'
import { changeEvent } from '../../domain/change-event.ts'
import { formatCredits, type Nano } from '../../domain/money.ts'
import { isoTime } from '../../domain/time.ts'
import { type Allowance, requireAllowance, takeAllowance } from '../admin-keys/allowance.ts'
import { queryItems } from '../database.ts'
import { putEvent } from '../events/events.ts'
import { makeOnce } from '../events/make-once.ts'
import type { OperatorTables } from '../operator-tables.ts'
import type { Tables } from '../tables.ts'
import { putNew } from '../transact.ts'
import type { ChangeResult } from './change-key.ts'
import { grantItem, keyItem, toNano } from './key-item.ts'
import { readKey } from './read-key.ts'

/**
 * Credits are added to the current balance, so a busy key needs no version check; a suspended one gets them, a revoked
 * one does not. With an allowance they are taken from it in the same transaction, or an OverAllowance is thrown.
 */
export function grantCredits(tables: OperatorTables) {
  const read = readKey(tables)
  return async (keyId: string, amount: Nano, act: Act, allowance?: Allowance): Promise<ChangeResult> => {
    const granted = await makeOnce(tables, keyId, act, [
      {
        Update: {
          TableName: tables.keys,
          Key: keyItem(keyId),
          ConditionExpression: '#status IN (:active, :suspended)',
          UpdateExpression: 'SET granted = granted + :amount, available = available + :amount, spentAtGrant = spent',
          ExpressionAttributeNames: { '#status': 'status' },
          ExpressionAttributeValues: { ':active': 'active', ':suspended': 'suspended', ':amount': amount },
        },
      },
      putNew(tables.keys, grantEntry(keyId, amount, act)),
      ...putEvent(tables, changeEvent(act, 'key.grant', { keyId, after: { credits: formatCredits(amount) } })),
      ...(allowance ? takeAllowance(tables, allowance, amount) : []),
    ])
    const key = await read(keyId)
    if (!key) return { changed: false, why: 'no_such_key' }
    if (granted) return { changed: true, key }
    if (allowance && key.status !== 'revoked') await requireAllowance(tables, allowance, amount)
    return { changed: false, why: 'revoked' }
  }
}

/** A grant has the id of the act that made it. */
export function grantEntry(keyId: string, amount: Nano, { id, by, atMs }: Act) {
  return { ...grantItem(keyId, id), credits: amount, grantedAt: isoTime(atMs), by }
}

export type GrantRecord = {
  readonly id: string
  readonly credits: Nano
  readonly grantedAt: string
  readonly by: string
}

/** All grants to a key, oldest first. */
export function listGrants({ database, keys }: Tables) {
  return async function* grantsOf(keyId: string): AsyncGenerator<GrantRecord, void, undefined> {
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
