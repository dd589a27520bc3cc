import type { Act } from '../../domain/keys/act.ts'
import type { AdminKey } from '../../domain/keys/admin-key.ts'
import { adminKeyFields, changeEvent } from '../../domain/keys/change-event.ts'
import type { Tables } from '../dynamodb/database.ts'
import { putNew } from '../dynamodb/transact.ts'
import { makeOnce, putEvent } from '../events/events.ts'
import type { KeyKind } from '../keys/change-key.ts'
import { SecretTaken } from '../keys/create-key.ts'
import { revoke, rotateSecret } from '../keys/rotate-key.ts'
import { findId, readOne } from '../keys/rotating-item.ts'
import { ADMIN_KEY_ITEMS, toAdminItem } from './admin-key-item.ts'

export const ADMIN_KEY: KeyKind<AdminKey> = {
  ...ADMIN_KEY_ITEMS,
  name: 'admin key',
  eventPrefix: 'admin_key',
  fieldsOf: adminKeyFields,
}

/** The admin key, the pointer from its hash and its event appear together. */
export function createAdminKey(tables: Tables) {
  const { keys } = tables
  return async (key: AdminKey, act: Act): Promise<void> => {
    const event = changeEvent(act, 'admin_key.create', { keyId: key.id, after: adminKeyFields(key) })
    const pointer = { ...ADMIN_KEY.secretItemOf(key.current.hash), keyId: key.id }
    const items = [putNew(keys, toAdminItem(key)), putNew(keys, pointer), ...putEvent(tables, event)]
    if (await makeOnce(tables, key.id, act, items)) return
    throw new SecretTaken(`An admin key ${key.id} or its secret exists already.`)
  }
}

/** Finds a key by the hash of its secret. An unknown hash costs one read. */
export function findAdminKey(tables: Tables) {
  const [find, read] = [findId(tables, ADMIN_KEY), readOne(tables, ADMIN_KEY)]
  return async (hash: string): Promise<AdminKey | undefined> => {
    const id = await find(hash)
    return id === undefined ? undefined : read(id)
  }
}

export function rotateAdminKey(tables: Tables) {
  return rotateSecret(tables, ADMIN_KEY)
}

export function revokeAdminKey(tables: Tables) {
  return revoke(tables, ADMIN_KEY, 'admin_key.revoke')
}
