import type { KeySettings } from '../../domain/key.ts'
import type { OperatorTables } from '../operator-tables.ts'
import { type ChangeResult, changeKey } from './change-key.ts'

type UpdateKey = (keyId: string, settings: Partial<KeySettings>) => Promise<ChangeResult>

export function updateKey(tables: OperatorTables): UpdateKey {
  const change = changeKey(tables)
  return (keyId, settings) => change(keyId, () => ({ set: settings }))
}
