import type { AdminKey } from '../../domain/admin-key.ts'
import type { Tables } from '../tables.ts'
import { adminHashItem, adminKeyItem, toAdminKey } from './admin-key-item.ts'

type ReadAdminKey = (id: string) => Promise<AdminKey | undefined>

export function readAdminKey({ database, keys }: Tables): ReadAdminKey {
  return async (id) => {
    const { Item } = await database.get({ TableName: keys, Key: adminKeyItem(id), ConsistentRead: true })
    return Item && toAdminKey(Item)
  }
}

type FindAdminKey = (hash: string) => Promise<AdminKey | undefined>

/** By the hash of its secret. An unknown hash costs one read. */
export function findAdminKey(tables: Tables): FindAdminKey {
  const read = readAdminKey(tables)
  return async (hash) => {
    const pointer = { TableName: tables.keys, Key: adminHashItem(hash), ConsistentRead: true }
    const { Item } = await tables.database.get(pointer)
    return Item && read(Item.keyId as string)
  }
}
