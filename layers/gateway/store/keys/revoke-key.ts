import type { OperatorTables } from '../operator-tables.ts'
import { type ChangeResult, changeKey } from './change-key.ts'
import { PREVIOUS_SECRET } from './end-grace.ts'
import { hashItem } from './key-item.ts'

type RevokeKey = (keyId: string, nowMs: number) => Promise<ChangeResult>

/** Both secrets are forgotten in the same transaction that ends the key. */
export function revokeKey(tables: OperatorTables): RevokeKey {
  const change = changeKey(tables)
  return (keyId, nowMs) =>
    change(keyId, ({ current, previous }) => ({
      set: { status: 'revoked', revokedAt: new Date(nowMs).toISOString() },
      remove: PREVIOUS_SECRET,
      alsoWrite: [current, ...(previous ? [previous] : [])].map(({ hash }) => ({
        Delete: { TableName: tables.keys, Key: hashItem(hash) },
      })),
    }))
}
