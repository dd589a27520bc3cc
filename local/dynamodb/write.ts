import { validationError } from './failures.ts'
import { checkIndexKeys, checkKeyBytes, keyIn, keyNames, keyOnly } from './keys.ts'
import { type Input, refuseOthers, type WriteKind } from './members.ts'
import { bind } from './program.ts'
import type { Storage } from './storage.ts'
import { type Item, itemIn, ofAllowedSize, pick, type Value } from './values.ts'

/** A write of a valid form. Its effect depends on the item that it finds. */
export type Write = ReturnType<typeof prepareWrite>

export function prepareWrite(storage: Storage, kind: WriteKind, input: Input) {
  refuseOthers(kind, input)
  const table = storage.get(input.TableName)
  if (kind === 'ConditionCheck' && input.ConditionExpression === undefined) {
    throw validationError('conditionExpression: Member must not be null')
  }
  const bound = bind(input)
  const given = itemIn((kind === 'Put' ? input.Item : input.Key) ?? {})
  const key = kind === 'Put' ? keyIn(table.schema, given) : keyOnly(table.schema, given)
  checkKeyBytes(key)
  const { ReturnValuesOnConditionCheckFailure: onFailure = 'NONE' } = input
  if (onFailure !== 'NONE' && onFailure !== 'ALL_OLD') throw validationError('Return values set to invalid value')
  const old = table.own.entries.get(key.place)
  const place = `${table.name}\0${key.place}`
  return { kind, table, key, place, given, old, bound, showsOld: onFailure === 'ALL_OLD' }
}

export function outcomeOf({ kind, table, given, old, bound: { update, values } }: Write): Item | undefined {
  if (kind === 'Put') return ofAllowedSize(given, 'Item size')
  if (kind === 'Delete') return undefined
  if (kind === 'ConditionCheck') return old
  const before = old ?? given
  if (!update) return before
  const keys = keyNames(table.schema)
  const next: Record<string, Value> = { ...before }
  for (const { name, value } of update) {
    if (keys.includes(name)) throw validationError(`Cannot update attribute ${name}. This attribute is part of the key`)
    // Every value is read from the item as it was before.
    const result = value(before, values)
    if (result === undefined) delete next[name]
    else next[name] = result
  }
  checkIndexKeys(table.schema, next)
  return ofAllowedSize(next, 'Item size to update')
}

export function returned({ old, bound }: Write, next: Item | undefined, wanted: string): Item | undefined {
  const item = wanted.endsWith('_OLD') ? old : next
  if (wanted === 'NONE' || !item) return undefined
  if (wanted.startsWith('ALL_')) return item
  const updated = pick(item, bound.update?.map(({ name }) => name) ?? [])
  return Object.keys(updated).length > 0 ? updated : undefined
}
