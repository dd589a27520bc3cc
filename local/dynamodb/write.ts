import { validationError } from './failures.ts'
import { ofAllowedSize } from './item-bytes.ts'
import { checkIndexKeys, checkKeyBytes, keyIn, keyNames, keyOnly } from './keys.ts'
import { bind, type Placeholders, type Texts } from './program.ts'
import type { StoredTable } from './stored-table.ts'
import { applyUpdate } from './update.ts'
import { type Item, pick } from './value.ts'

export type WriteKind = 'Put' | 'Update' | 'Delete' | 'ConditionCheck'

type WriteTexts = 'TableName' | `${'Condition' | 'Update'}Expression` | 'ReturnValuesOnConditionCheckFailure'
export type WriteInput = Placeholders &
  Texts<WriteTexts> & { readonly Key?: Item | undefined; readonly Item?: Item | undefined }

/** A write of a valid form. Its effect depends on the item that it finds. */
export type Write = ReturnType<typeof prepareWrite>

const NO_ITEM: Item = {}

export function prepareWrite(kind: WriteKind, table: StoredTable, input: WriteInput) {
  if (kind === 'ConditionCheck' && input.ConditionExpression === undefined) {
    throw validationError('conditionExpression: Member must not be null')
  }
  const bound = bind({ condition: input.ConditionExpression, update: input.UpdateExpression }, input)
  const given = (kind === 'Put' ? input.Item : input.Key) ?? NO_ITEM
  const key = kind === 'Put' ? keyIn(table.definition, given) : keyOnly(table.definition, given)
  checkKeyBytes(key)
  const { ReturnValuesOnConditionCheckFailure: onFailure = 'NONE' } = input
  if (onFailure !== 'NONE' && onFailure !== 'ALL_OLD') throw validationError('Return values set to invalid value')
  return { kind, table, key, given, old: table.get(key), bound, showsOld: onFailure === 'ALL_OLD' }
}

export function outcomeOf({ kind, table, given, old, bound: { update, values } }: Write): Item | undefined {
  if (kind === 'Put') return ofAllowedSize(given, 'Item size')
  if (kind === 'Delete') return undefined
  if (kind === 'ConditionCheck') return old
  if (!update) return old ?? given
  const keys = keyNames(table.definition)
  for (const { name } of update) {
    if (keys.includes(name)) throw validationError(`Cannot update attribute ${name}. This attribute is part of the key`)
  }
  const next = applyUpdate(update, old ?? given, values)
  checkIndexKeys(table.definition, next)
  return ofAllowedSize(next, 'Item size to update')
}

export function returned({ old, bound }: Write, next: Item | undefined, wanted: string): Item | undefined {
  const item = wanted.endsWith('_OLD') ? old : next
  if (wanted === 'NONE' || !item) return undefined
  if (wanted.startsWith('ALL_')) return item
  const names = (bound.update ?? []).map(({ name }) => name)
  const updated = pick(item, names)
  return Object.keys(updated).length > 0 ? updated : undefined
}
