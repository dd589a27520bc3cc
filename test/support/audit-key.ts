import { type Audit, auditKey as auditInTime } from '../../layers/admin/audit/audit-key.ts'
import type { Key } from '../../layers/gateway/domain/keys/key.ts'
import type { Tables } from '../../layers/gateway/store/dynamodb/database.ts'

/** The whole audit of a key, however long it takes. */
export async function auditKey(tables: Tables, key: Key, nowMs: number): Promise<Audit> {
  return (await auditInTime(tables, key, nowMs, { isOver: () => false })) as Audit
}
