import type { KeySettings } from '../../domain/key.ts'
import type { Tables } from '../tables.ts'
import { type ChangeResult, changeKey } from './change-key.ts'

type UpdateKey = (keyId: string, settings: Partial<KeySettings>) => Promise<ChangeResult>

export function updateKey(tables: Tables): UpdateKey {
  const change = changeKey(tables)
  return (keyId, settings) => change(keyId, () => ({ set: settings }))
}
