import type { Act } from '../../domain/act.ts'
import type { AdminKey } from '../../domain/admin-key.ts'
import { adminKeyFields, changeEvent } from '../../domain/change-event.ts'
import { putEvent } from '../events/events.ts'
import { makeOnce } from '../events/make-once.ts'
import type { OperatorTables } from '../operator-tables.ts'
import { adminHashItem, toAdminItem } from './admin-key-item.ts'

/** The admin key, the pointer from its hash and its event appear together. */
type CreateAdminKey = (key: AdminKey, act: Act) => Promise<void>

export function createAdminKey(tables: OperatorTables): CreateAdminKey {
  const put = (Item: Record<string, unknown>) => ({
    Put: { TableName: tables.keys, Item, ConditionExpression: 'attribute_not_exists(pk)' },
  })
  return async (key, act) => {
    const event = changeEvent(act, 'admin_key.create', { keyId: key.id, after: adminKeyFields(key) })
    const items = [put(toAdminItem(key)), put({ ...adminHashItem(key.current.hash), keyId: key.id })]
    if (await makeOnce(tables, key.id, act, [...items, ...putEvent(tables, event)])) return
    throw new Error(`An admin key ${key.id} or its secret exists already.`)
  }
}
