import type { AdminKey } from '../../domain/keys/admin-key.ts'
import type { AdminScope } from '../../domain/keys/admin-scopes.ts'
import { ITEMS } from '../../names.ts'
import type { Item } from '../dynamodb/database.ts'
import { toNano } from '../keys/key-item.ts'
import { type KeyItems, rotatingAttributes, toRotatingKey } from '../keys/rotating-item.ts'

const SORT_KEY = 'ADMIN'
export const adminKeyItem = (id: string) => ({ pk: `${ITEMS.adminKey}${id}`, sk: SORT_KEY })
const adminHashItem = (hash: string) => ({ pk: `${ITEMS.adminHash}${hash}`, sk: 'HASH' })

export function toAdminItem(key: AdminKey): Item {
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

export const ADMIN_KEY_ITEMS: KeyItems<AdminKey> = {
  itemOf: adminKeyItem,
  secretItemOf: adminHashItem,
  sortKey: SORT_KEY,
  toKey: toAdminKey,
}
