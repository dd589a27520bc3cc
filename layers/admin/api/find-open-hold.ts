import type { Hold, Key } from '../../gateway/domain/key.ts'
import { listKeys } from '../../gateway/store/keys/read-key.ts'
import type { OperatorTables } from '../../gateway/store/operator-tables.ts'

/** The key that holds credits for a request. Nothing but the keys themselves knows, so all are read. */
export async function findOpenHold(
  tables: OperatorTables,
  requestId: string,
): Promise<{ key: Key; hold: Hold } | undefined> {
  for await (const key of listKeys(tables)()) {
    const hold = key.holds[requestId]
    if (hold) return { key, hold }
  }
  return undefined
}
