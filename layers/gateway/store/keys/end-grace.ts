import type { OperatorTables } from '../operator-tables.ts'
import { type ChangeResult, changeKey } from './change-key.ts'
import { hashItem } from './key-item.ts'

type EndGrace = (keyId: string) => Promise<ChangeResult>

export const PREVIOUS_SECRET = ['previousHash', 'previousLastFour', 'previousUntilMs']

export function endGrace(tables: OperatorTables): EndGrace {
  const change = changeKey(tables)
  return (keyId) =>
    change(keyId, ({ previous }) =>
      previous
        ? {
            set: {},
            remove: PREVIOUS_SECRET,
            alsoWrite: [{ Delete: { TableName: tables.keys, Key: hashItem(previous.hash) } }],
          }
        : undefined,
    )
}
