import type { Key } from '../../gateway/domain/key.ts'
import { findByExternalId } from '../../gateway/store/keys/external-id.ts'
import { readKey } from '../../gateway/store/keys/read-key.ts'
import type { OperatorTables } from '../../gateway/store/operator-tables.ts'

/** The key with an external id: one, or none. */
export async function keysNamed(tables: OperatorTables, externalId: string): Promise<Key[]> {
  const keyId = await findByExternalId(tables)(externalId)
  const key = keyId === undefined ? undefined : await readKey(tables)(keyId)
  return key ? [key] : []
}
