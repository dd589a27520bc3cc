import { type Account, hasRoomFor, MOST_KEYS } from '../../domain/keys/account.ts'
import type { Act } from '../../domain/keys/act.ts'
import type { Key, Purse } from '../../domain/keys/key.ts'
import type { Nano } from '../../domain/money/money.ts'
import type { Tables, TransactItem } from '../dynamodb/database.ts'
import { putNew, transact } from '../dynamodb/transact.ts'
import { againAfterOthers, VersionConflict } from '../keys/change-key.ts'
import { accountItem, keyItem, SWEEP_AT_ONCE } from '../keys/key-item.ts'
import { readKey } from '../keys/read-key.ts'
import { outMark, seenMark } from './account-item.ts'

export function mayJoin(account: Account, known?: Pick<Purse, 'statusVersion'>): boolean {
  const { statusVersion, status } = account
  return statusVersion === known?.statusVersion && status !== 'revoked' && hasRoomFor(account, 1)
}

/** Part of the transaction in which purses join an account: their marks are there first. Each brings as much. */
export function addPurses(
  { keys }: Tables,
  addresses: readonly string[],
  { accountId, statusVersion }: Pick<Purse, 'accountId' | 'statusVersion'>,
  brought: Nano = 0n,
): TransactItem {
  const marks = addresses.map((_, i) => `#out${i} = :brought, #seen${i} = :zero`).join(', ')
  const areNew = addresses.map((_, i) => `attribute_not_exists(#out${i})`).join(' AND ')
  const names = addresses.flatMap((address, i) => [
    [`#out${i}`, outMark(address)],
    [`#seen${i}`, seenMark(address)],
  ])
  return {
    Update: {
      TableName: keys,
      Key: accountItem(accountId),
      ConditionExpression: `statusVersion = :statusVersion AND #status <> :revoked AND keyCount <= :room AND ${areNew}`,
      UpdateExpression: `SET ${marks}, keyCount = keyCount + :count, granted = granted + :brought, drawn = drawn + :brought, sweepAt = if_not_exists(sweepAt, :atOnce)`,
      ExpressionAttributeNames: { '#status': 'status', ...Object.fromEntries(names) },
      ExpressionAttributeValues: {
        ':statusVersion': statusVersion,
        ':revoked': 'revoked',
        ':room': MOST_KEYS - addresses.length,
        ':brought': brought,
        ':zero': 0,
        ':count': addresses.length,
        ':atOnce': SWEEP_AT_ONCE,
      },
    },
  }
}

/** Part of the transaction in which a key that is alone becomes the purse of an account, or of a pool of its own. */
export function becomePurse(
  { keys }: Tables,
  { id, version, granted }: Key,
  { id: accountId, statusVersion, plan }: Pick<Account, 'id' | 'statusVersion' | 'plan'>,
  adoptedAtMs?: number,
): TransactItem {
  const adopted = `, adoptedAtMs = :adoptedAtMs${plan === undefined ? '' : ', acPlan = :plan'} REMOVE notifyBelow`
  return {
    Update: {
      TableName: keys,
      Key: keyItem(id),
      ConditionExpression:
        'version = :version AND granted = :granted AND #status <> :revoked AND attribute_not_exists(accountId)',
      // The rest is on its way to the pool. All that is held or spent by now was held once, and nothing of it has come back.
      UpdateExpression: `SET version = :next, accountId = :accountId, statusVersion = :statusVersion, drawn = granted, heldEver = granted - available, spentAtDraw = spent, granted = granted - available, available = :zero${adoptedAtMs === undefined ? '' : adopted}`,
      ExpressionAttributeNames: { '#status': 'status' },
      ExpressionAttributeValues: {
        ':version': version,
        ':next': version + 1,
        ':granted': granted,
        ':revoked': 'revoked',
        ':accountId': accountId,
        ':statusVersion': statusVersion,
        ':zero': 0,
        ...(adoptedAtMs !== undefined && { ':adoptedAtMs': adoptedAtMs }),
        ...(plan !== undefined && { ':plan': plan }),
      },
    },
  }
}

/** The credits of a key that is alone lie in a pool from now on. Its version after that, if it was the expected one. */
export function makePool(tables: Tables) {
  const read = readKey(tables)
  return (keyId: string, act: Act, expectedVersion?: number): Promise<number | undefined> =>
    againAfterOthers(act, async () => {
      const key = await read(keyId)
      const isOther = expectedVersion !== undefined && key?.version !== expectedVersion
      if (!key || key.purse || key.status === 'revoked' || isOther) return undefined
      const { id, granted } = key
      const pool = { statusVersion: 1, status: 'active', version: 1, retired: 0, keyCount: 1, available: 0 }
      const marks = { [outMark(id)]: granted, [seenMark(id)]: 0 }
      const Item = { ...accountItem(id), id, ...pool, granted, drawn: granted, ...marks, sweepAt: SWEEP_AT_ONCE }
      const writes = [becomePurse(tables, key, { id, statusVersion: 1 }), putNew(tables.keys, Item)]
      const made = await transact(tables, writes, act)
      if (!made) throw new VersionConflict(`The key ${id} was changed by others again and again. Try again.`)
      return expectedVersion === undefined ? undefined : key.version + 1
    })
}
