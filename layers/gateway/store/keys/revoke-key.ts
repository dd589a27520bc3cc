import type { Act } from '../../domain/act.ts'
import { isoTime } from '../../domain/time.ts'
import type { OperatorTables } from '../operator-tables.ts'
import { type ChangeResult, changeKey } from './change-key.ts'
import { PREVIOUS_SECRET } from './end-grace.ts'
import { freeExternalId } from './external-id.ts'
import { hashItem } from './key-item.ts'

type RevokeKey = (keyId: string, act: Act) => Promise<ChangeResult>

/** Both secrets are forgotten in the same transaction that ends the key. Its external id is free for the next one. */
export function revokeKey(tables: OperatorTables): RevokeKey {
  const change = changeKey(tables, 'key.revoke')
  return (keyId, act) =>
    change(keyId, act, ({ current, previous, externalId }) => ({
      set: { status: 'revoked', revokedAt: isoTime(act.atMs) },
      remove: PREVIOUS_SECRET,
      alsoWrite: [
        ...[current, ...(previous ? [previous] : [])].map(({ hash }) => ({
          Delete: { TableName: tables.keys, Key: hashItem(hash) },
        })),
        ...(externalId === undefined ? [] : [freeExternalId(tables, externalId, keyId)]),
      ],
    }))
}
