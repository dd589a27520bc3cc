import type { Change, Result } from './expression.ts'
import { validationError } from './failures.ts'
import { checkIndexKeys, checkKeyBytes, keyIn, keyNames, keyOnly } from './keys.ts'
import { isNumeric, negated, sum } from './number.ts'
import { bind, type Placeholders, type Texts, type Values } from './program.ts'
import type { StoredTable } from './stored-table.ts'
import {
  attribute,
  type ElementSet,
  type Found,
  type Item,
  isSet,
  ofAllowedSize,
  pick,
  union,
  type Value,
  without,
} from './value.ts'

export type WriteKind = 'Put' | 'Update' | 'Delete' | 'ConditionCheck'

type WriteTexts = 'TableName' | `${'Condition' | 'Update'}Expression` | 'ReturnValuesOnConditionCheckFailure'
export type WriteInput = Placeholders &
  Texts<WriteTexts> & { readonly Key?: Item | undefined; readonly Item?: Item | undefined }

/** A write of a valid form. Its effect depends on the item that it finds. */
export type Write = ReturnType<typeof prepareWrite>

export function prepareWrite(kind: WriteKind, table: StoredTable, input: WriteInput) {
  if (kind === 'ConditionCheck' && input.ConditionExpression === undefined) {
    throw validationError('conditionExpression: Member must not be null')
  }
  const bound = bind({ condition: input.ConditionExpression, update: input.UpdateExpression }, input)
  const given = (kind === 'Put' ? input.Item : input.Key) ?? {}
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
  const updated = pick(
    item,
    (bound.update ?? []).map(({ name }) => name),
  )
  return Object.keys(updated).length > 0 ? updated : undefined
}

/** Every value is read from the item as it was before. */
export function applyUpdate(changes: readonly Change[], item: Item, values: Values): Item {
  const next: Record<string, Value> = { ...item }
  for (const change of changes) {
    const result = resultOf(change, item, values)
    if (result === undefined) delete next[change.name]
    else next[change.name] = result
  }
  return next
}

function resultOf(change: Change, item: Item, values: Values): Found {
  if (change.section === 'REMOVE') return undefined
  if (change.section === 'SET') return calculated(change.value, item, values)
  const old = attribute(item, change.name)
  const given = values[change.token] as Value
  if (old === undefined) return change.section === 'ADD' ? given : undefined
  if (change.section === 'DELETE') return without(ofType(old, isSet), given as ElementSet)
  return isSet(given) ? union(ofType(old, isSet), given) : sum(ofType(old, isNumeric), ofType(given, isNumeric))
}

function calculated(result: Result, item: Item, values: Values): Value {
  if (result.kind === 'value') return values[result.token] as Value
  if ('left' in result) {
    const left = ofType(calculated(result.left, item, values), isNumeric)
    const right = ofType(calculated(result.right, item, values), isNumeric)
    return sum(left, result.kind === '+' ? right : negated(right))
  }
  // Always read, and first: an attribute that does not exist is an error even if its value is not needed.
  const otherwise = result.kind === 'if_not_exists' ? calculated(result.otherwise, item, values) : undefined
  const found = attribute(item, result.name)
  if (found !== undefined) return found
  if (otherwise !== undefined) return otherwise
  throw validationError('The provided expression refers to an attribute that does not exist in the item')
}

function ofType<T extends Value>(value: Value, isOfType: (value: Value) => value is T): T {
  if (isOfType(value)) return value
  throw validationError('An operand in the update expression has an incorrect data type')
}
