import type { Key } from '../../domain/key.ts'
import type { OperatorTables } from '../operator-tables.ts'
import { transact } from '../transact.ts'
import { type Grant, grantEntry } from './grant-credits.ts'
import { hashItem, toItem } from './key-item.ts'

/** The key, its hash and its first grant appear together. */
type CreateKey = (key: Key, grant: Grant) => Promise<void>

export function createKey(tables: OperatorTables): CreateKey {
  const put = (Item: Record<string, unknown>) => ({
    Put: { TableName: tables.keys, Item, ConditionExpression: 'attribute_not_exists(pk)' },
  })
  return async (key, grant) => {
    const created = await transact(tables, [
      put(toItem(key)),
      put({ ...hashItem(key.current.hash), keyId: key.id }),
      ...(key.granted > 0n ? [put(grantEntry(key.id, key.granted, grant, key.createdAtMs))] : []),
    ])
    if (!created) throw new Error(`A key ${key.id} or its secret exists already.`)
  }
}
