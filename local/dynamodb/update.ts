import type { Change, Result } from './expression.ts'
import { validationError } from './failures.ts'
import { isNumeric, negated, sum } from './number.ts'
import type { Values } from './program.ts'
import { attribute, type ElementSet, type Found, type Item, isSet, union, type Value, without } from './value.ts'

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
  switch (result.kind) {
    case 'value':
      return values[result.token] as Value
    case 'attribute': {
      const found = attribute(item, result.name)
      if (found !== undefined) return found
      throw validationError('The provided expression refers to an attribute that does not exist in the item')
    }
    case 'if_not_exists': {
      // Always read, and first: an attribute that does not exist is an error even if its value is not needed.
      const otherwise = calculated(result.otherwise, item, values)
      const found = attribute(item, result.name)
      return found === undefined ? otherwise : found
    }
    default: {
      const left = ofType(calculated(result.left, item, values), isNumeric)
      const right = ofType(calculated(result.right, item, values), isNumeric)
      return sum(left, result.kind === '+' ? right : negated(right))
    }
  }
}

function ofType<T extends Value>(value: Value, isOfType: (value: Value) => value is T): T {
  if (isOfType(value)) return value
  throw validationError('An operand in the update expression has an incorrect data type')
}
