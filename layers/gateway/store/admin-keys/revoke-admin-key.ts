import type { Act } from '../../domain/act.ts'
import type { OperatorTables } from '../operator-tables.ts'
import { type AdminKeyResult, changeAdminKey, forgetAdminSecret } from './change-admin-key.ts'

type RevokeAdminKey = (id: string, act: Act) => Promise<AdminKeyResult>

/** Both secrets are forgotten in the same transaction that ends the key. */
export function revokeAdminKey(tables: OperatorTables): RevokeAdminKey {
  const change = changeAdminKey(tables, 'admin_key.revoke')
  return (id, act) =>
    change(id, act, ({ previous, ...key }) => ({
      next: { ...key, status: 'revoked' },
      alsoWrite: [key.current, ...(previous ? [previous] : [])].map(({ hash }) => forgetAdminSecret(tables, hash)),
    }))
}
