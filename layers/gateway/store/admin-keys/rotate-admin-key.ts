import type { Act } from '../../domain/act.ts'
import type { Secret } from '../../domain/key.ts'
import { GRACE_MS } from '../../domain/key-settings.ts'
import type { OperatorTables } from '../operator-tables.ts'
import { adminHashItem } from './admin-key-item.ts'
import { type AdminKeyResult, changeAdminKey, forgetAdminSecret } from './change-admin-key.ts'

type RotateAdminKey = (id: string, secret: Secret, act: Act) => Promise<AdminKeyResult>

/** The current secret becomes the previous one for the grace period; a secret that was in grace already ends now. */
export function rotateAdminKey(tables: OperatorTables): RotateAdminKey {
  const { keys } = tables
  const change = changeAdminKey(tables, 'admin_key.rotate')
  return (id, secret, act) =>
    change(id, act, (key) => {
      const { current, previous } = key
      const untilMs = act.atMs + GRACE_MS
      const pointer = (hash: string) => ({ ...adminHashItem(hash), keyId: id })
      const isNew = {
        Put: { TableName: keys, Item: pointer(secret.hash), ConditionExpression: 'attribute_not_exists(pk)' },
      }
      const ending = {
        Put: { TableName: keys, Item: { ...pointer(current.hash), expiresAt: Math.ceil(untilMs / 1000) } },
      }
      return {
        next: { ...key, current: secret, previous: { ...current, untilMs } },
        alsoWrite: [isNew, ending, ...(previous ? [forgetAdminSecret(tables, previous.hash)] : [])],
      }
    })
}
