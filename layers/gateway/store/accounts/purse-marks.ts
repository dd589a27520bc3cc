import { type Account, MOST_KEYS } from '../../domain/keys/account.ts'
import type { Purse } from '../../domain/keys/key.ts'
import type { Nano } from '../../domain/money/money.ts'
import type { TransactItem } from '../dynamodb/database.ts'
import type { Tables } from '../dynamodb/tables.ts'
import { accountItem, SWEEP_AT_ONCE } from '../keys/key-item.ts'
import { outMark, seenMark } from './account-item.ts'

const MAY_JOIN = 'statusVersion = :statusVersion AND #status <> :revoked AND keyCount < :most'

export function mayJoin({ statusVersion, status, marks }: Account, known?: Pick<Purse, 'statusVersion'>): boolean {
  return statusVersion === known?.statusVersion && status !== 'revoked' && Object.keys(marks).length < MOST_KEYS
}

/** Part of the transaction in which a key joins an account, with the credits that it brings. */
export function addPurse(
  { keys }: Tables,
  keyId: string,
  { accountId, statusVersion }: Pick<Purse, 'accountId' | 'statusVersion'>,
  brought: Nano = 0n,
): TransactItem {
  return {
    Update: {
      TableName: keys,
      Key: accountItem(accountId),
      ConditionExpression: `${MAY_JOIN} AND attribute_not_exists(#out)`,
      UpdateExpression:
        'SET #out = :brought, #seen = :zero, keyCount = keyCount + :one, granted = granted + :brought, drawn = drawn + :brought, sweepAt = if_not_exists(sweepAt, :atOnce)',
      ExpressionAttributeNames: { '#status': 'status', '#out': outMark(keyId), '#seen': seenMark(keyId) },
      ExpressionAttributeValues: {
        ':statusVersion': statusVersion,
        ':revoked': 'revoked',
        ':most': MOST_KEYS,
        ':brought': brought,
        ':zero': 0,
        ':one': 1,
        ':atOnce': SWEEP_AT_ONCE,
      },
    },
  }
}
