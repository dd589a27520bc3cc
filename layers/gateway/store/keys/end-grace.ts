import type { Act } from '../../domain/act.ts'
import type { OperatorTables } from '../operator-tables.ts'
import { type ChangeResult, changeKey } from './change-key.ts'
import { hashItem } from './key-item.ts'

type EndGrace = (keyId: string, act: Act) => Promise<ChangeResult>

export const PREVIOUS_SECRET = ['previousHash', 'previousLastFour', 'previousUntilMs', 'previousUsedAtMs']

export function endGrace(tables: OperatorTables): EndGrace {
  const change = changeKey(tables, 'key.end_grace')
  return (keyId, act) =>
    change(keyId, act, ({ previous }) =>
      previous
        ? {
            set: {},
            remove: PREVIOUS_SECRET,
            alsoWrite: [{ Delete: { TableName: tables.keys, Key: hashItem(previous.hash) } }],
          }
        : undefined,
    )
}
