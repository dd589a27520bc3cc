import { validationError } from './failures.ts'
import { isNumeric, type Numeric, negated, sum } from './number.ts'
import type { Change, Result } from './parse-expression.ts'
import type { Values } from './program.ts'
import {
  attribute,
  type ElementSet,
  type Found,
  type Item,
  isMap,
  isSet,
  type Path,
  typeOf,
  union,
  type Value,
  valueAt,
  without,
} from './value.ts'

/** The item after the update. Every value is read from the item as it was before. */
export function applyUpdate(changes: readonly Change[], item: Item, values: Values): Item {
  const next: Record<string, Value> = { ...item }
  for (const change of changes) put(next, change.path, resultOf(change, item, values))
  return next
}

/** True if a value of the item may be in it twice afterwards. */
export function copies(changes: readonly Change[]): boolean {
  return changes.some(({ section, value }: Change & { value?: Result }) => {
    return section === 'SET' && (value?.kind === 'path' || value?.kind === 'if_not_exists')
  })
}

function resultOf(change: Change, item: Item, values: Values): Found {
  if (change.section === 'REMOVE') return undefined
  if (change.section === 'SET') return calculated(change.value, item, values)
  const old = valueAt(item, change.path)
  const given = values[change.token] as Value
  if (old === undefined) return change.section === 'ADD' ? given : undefined
  if (change.section === 'DELETE') return without(sameSet(old, given), given as ElementSet)
  return isSet(given) ? union(sameSet(old, given), given) : sum(numeric(old), numeric(given))
}

function calculated(result: Result, item: Item, values: Values): Value {
  switch (result.kind) {
    case 'value':
      return values[result.token] as Value
    case 'path': {
      const found = valueAt(item, result.path)
      if (found !== undefined) return found
      throw validationError('The provided expression refers to an attribute that does not exist in the item')
    }
    case 'if_not_exists': {
      // Always read, and first: a path that does not exist is an error even if its value is not needed.
      const otherwise = calculated(result.otherwise, item, values)
      const found = valueAt(item, result.path)
      return found === undefined ? otherwise : found
    }
    default: {
      const left = numeric(calculated(result.left, item, values))
      const right = numeric(calculated(result.right, item, values))
      return sum(left, result.kind === '+' ? right : negated(right))
    }
  }
}

/** Puts a value into a map, whose inner maps are copied; without a value, the attribute is removed. */
function put(map: Record<string, Value>, [first, ...rest]: Path, value: Found): void {
  const name = first as string
  if (rest.length > 0) {
    const inner = attribute(map, name)
    if (!isMap(inner)) {
      throw validationError('The document path provided in the update expression is invalid for update')
    }
    const copy = { ...inner }
    put(copy, rest, value)
    map[name] = copy
  } else if (value === undefined) delete map[name]
  else map[name] = value
}

function numeric(value: Value): Numeric {
  if (isNumeric(value)) return value
  throw wrongType()
}

function sameSet(value: Value, other: Value): ElementSet {
  if (isSet(value) && typeOf(value) === typeOf(other)) return value
  throw wrongType()
}

function wrongType() {
  return validationError('An operand in the update expression has an incorrect data type')
}
