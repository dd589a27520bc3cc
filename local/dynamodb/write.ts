import { holds } from './condition.ts'
import { validationError } from './failures.ts'
import { ofAllowedSize } from './item-bytes.ts'
import { checkIndexKeys, checkKeyBytes, keyIn, keyNames, keyOnly } from './keys.ts'
import { type Bound, bind, type Placeholders } from './program.ts'
import type { Key, StoredTable } from './stored-table.ts'
import { applyUpdate } from './update.ts'
import { type Item, pick } from './value.ts'

export type WriteKind = 'Put' | 'Update' | 'Delete' | 'ConditionCheck'

export type WriteInput = Placeholders & {
  readonly TableName?: string | undefined
  readonly Key?: Item | undefined
  readonly Item?: Item | undefined
  readonly ConditionExpression?: string | undefined
  readonly UpdateExpression?: string | undefined
  readonly ReturnValuesOnConditionCheckFailure?: string | undefined
}

/** A write of a valid form. Its effect depends on the item that it finds. */
export type Write = {
  readonly kind: WriteKind
  readonly table: StoredTable
  readonly key: Key
  readonly given: Item
  readonly old: Item | undefined
  readonly bound: Bound
  readonly showsOld: boolean
}

const NO_ITEM: Item = {}

export function prepareWrite(kind: WriteKind, table: StoredTable, input: WriteInput): Write {
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

/** A fault in an item to put is reported before its condition is checked. */
export function checkGiven({ kind, table, given }: Write): void {
  if (kind === 'Put') checkIndexKeys(table.definition, given)
}

export function conditionHolds({ bound: { condition, values }, old = NO_ITEM }: Write): boolean {
  return !condition || holds(condition, old, values)
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
