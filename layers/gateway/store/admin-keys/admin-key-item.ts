import { ITEMS } from '../../contract.ts'
import type { AdminKey, AdminScope } from '../../domain/admin-key.ts'
import type { Item } from '../database.ts'
import { toNano } from '../keys/key-item.ts'

export const adminKeyItem = (id: string) => ({ pk: `${ITEMS.adminKey}${id}`, sk: ADMIN_KEY })
export const adminHashItem = (hash: string) => ({ pk: `${ITEMS.adminHash}${hash}`, sk: 'HASH' })
export const ADMIN_KEY = 'ADMIN'

export function toAdminItem(key: AdminKey): Item {
  return {
    ...adminKeyItem(key.id),
    id: key.id,
    name: key.name,
    status: key.status,
    currentHash: key.current.hash,
    currentLastFour: key.current.lastFour,
    previousHash: key.previous?.hash,
    previousLastFour: key.previous?.lastFour,
    previousUntilMs: key.previous?.untilMs,
    scopes: key.scopes,
    allowlist: key.allowlist,
    dailyGrant: key.dailyGrant,
    createdAt: new Date(key.createdAtMs).toISOString(),
    version: key.version,
  }
}

export function toAdminKey(item: Item): AdminKey {
  return {
    id: item.id as string,
    name: item.name as string,
    status: item.status as AdminKey['status'],
    current: { hash: item.currentHash as string, lastFour: item.currentLastFour as string },
    ...(item.previousHash !== undefined && {
      previous: {
        hash: item.previousHash as string,
        lastFour: item.previousLastFour as string,
        untilMs: item.previousUntilMs as number,
      },
    }),
    scopes: item.scopes as AdminScope[],
    allowlist: item.allowlist as string[],
    dailyGrant: toNano(item.dailyGrant),
    createdAtMs: Date.parse(item.createdAt as string),
    version: item.version as number,
  }
}
