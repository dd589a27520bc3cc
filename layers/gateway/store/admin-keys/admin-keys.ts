import { ITEMS } from '../../contract.ts'
import type { Act } from '../../domain/act.ts'
import type { AdminKey, AdminScope } from '../../domain/admin-key.ts'
import { adminKeyFields, changeEvent } from '../../domain/change-event.ts'
import type { Item } from '../database.ts'
import { putEvent } from '../events/events.ts'
import { makeOnce } from '../events/make-once.ts'
import { type ChangeResult, changeKey, type KeyKind } from '../keys/change-key.ts'
import { toNano } from '../keys/key-item.ts'
import { revokedAt, rotateSecret } from '../keys/rotate-key.ts'
import { findId, listAll, readOne, rotatingAttributes, toRotatingKey } from '../keys/rotating-item.ts'
import type { OperatorTables } from '../operator-tables.ts'
import type { Tables } from '../tables.ts'
import { putNew } from '../transact.ts'

const SORT_KEY = 'ADMIN'

/** An admin key rotates and ends as a caller's key does. */
const ADMIN_KEY: KeyKind<AdminKey> = {
  name: 'admin key',
  itemOf: adminKeyItem,
  secretItemOf: (hash) => ({ pk: `${ITEMS.adminHash}${hash}`, sk: 'HASH' }),
  sortKey: SORT_KEY,
  toKey: toAdminKey,
  eventPrefix: 'admin_key',
  fieldsOf: adminKeyFields,
}

export function adminKeyItem(id: string) {
  return { pk: `${ITEMS.adminKey}${id}`, sk: SORT_KEY }
}

function toAdminItem(key: AdminKey): Item {
  const { name, scopes, allowlist, dailyGrant } = key
  return { ...adminKeyItem(key.id), ...rotatingAttributes(key), name, scopes, allowlist, dailyGrant }
}

function toAdminKey(item: Item): AdminKey {
  return {
    ...toRotatingKey(item),
    name: item.name as string,
    scopes: item.scopes as AdminScope[],
    allowlist: item.allowlist as string[],
    dailyGrant: toNano(item.dailyGrant),
  }
}

/** The admin key, the pointer from its hash and its event appear together. */
export function createAdminKey(tables: OperatorTables) {
  const { keys } = tables
  return async (key: AdminKey, act: Act): Promise<void> => {
    const event = changeEvent(act, 'admin_key.create', { keyId: key.id, after: adminKeyFields(key) })
    const pointer = { ...ADMIN_KEY.secretItemOf(key.current.hash), keyId: key.id }
    const items = [putNew(keys, toAdminItem(key)), putNew(keys, pointer), ...putEvent(tables, event)]
    if (await makeOnce(tables, key.id, act, items)) return
    throw new Error(`An admin key ${key.id} or its secret exists already.`)
  }
}

export function readAdminKey(tables: Tables) {
  return readOne(tables, ADMIN_KEY)
}

/** By the hash of its secret. An unknown hash costs one read. */
export function findAdminKey(tables: Tables) {
  const [find, read] = [findId(tables, ADMIN_KEY), readAdminKey(tables)]
  return async (hash: string): Promise<AdminKey | undefined> => {
    const id = await find(hash)
    return id === undefined ? undefined : read(id)
  }
}

export function listAdminKeys(tables: Tables) {
  return listAll(tables, ADMIN_KEY)
}

export function rotateAdminKey(tables: OperatorTables) {
  return rotateSecret(tables, ADMIN_KEY)
}

/** Both secrets are forgotten in the transaction that ends the admin key: no request of a caller writes its item. */
export function revokeAdminKey(tables: OperatorTables) {
  const change = changeKey(tables, ADMIN_KEY, 'admin_key.revoke')
  return (id: string, act: Act): Promise<ChangeResult<AdminKey>> =>
    change(id, act, ({ current, previous }) => ({
      ...revokedAt(act),
      alsoWrite: [current, ...(previous ? [previous] : [])].map(({ hash }) => ({
        Delete: { TableName: tables.keys, Key: ADMIN_KEY.secretItemOf(hash) },
      })),
    }))
}
