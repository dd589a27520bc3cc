import { ITEMS } from '../../contract.ts'
import type { AdminKey, AdminScope } from '../../domain/admin-key.ts'
import { isoTime } from '../../domain/time.ts'
import type { Item } from '../database.ts'
import { toNano } from '../keys/key-item.ts'
import { currentSecret, previousSecret, secretAttributes } from '../keys/secret-attributes.ts'

export const adminKeyItem = (id: string) => ({ pk: `${ITEMS.adminKey}${id}`, sk: ADMIN_KEY })
export const adminHashItem = (hash: string) => ({ pk: `${ITEMS.adminHash}${hash}`, sk: 'HASH' })
export const ADMIN_KEY = 'ADMIN'

export function toAdminItem(key: AdminKey): Item {
  return {
    ...adminKeyItem(key.id),
    id: key.id,
    name: key.name,
    status: key.status,
    ...secretAttributes(key),
    scopes: key.scopes,
    allowlist: key.allowlist,
    dailyGrant: key.dailyGrant,
    createdAt: isoTime(key.createdAtMs),
    version: key.version,
  }
}

export function toAdminKey(item: Item): AdminKey {
  const previous = previousSecret(item)
  return {
    id: item.id as string,
    name: item.name as string,
    status: item.status as AdminKey['status'],
    current: currentSecret(item),
    ...(previous && { previous }),
    scopes: item.scopes as AdminScope[],
    allowlist: item.allowlist as string[],
    dailyGrant: toNano(item.dailyGrant),
    createdAtMs: Date.parse(item.createdAt as string),
    version: item.version as number,
  }
}
