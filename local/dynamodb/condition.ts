import type { Condition, Operand, Test } from './expression.ts'
import type { Values } from './program.ts'
import { attribute, beginsWith, compare, contains, equals, type Found, type Item, sizeOf } from './value.ts'

const TESTS: Readonly<Record<Test['kind'], (first: Found, ...others: Found[]) => boolean>> = {
  attribute_exists: (value) => value !== undefined,
  attribute_not_exists: (value) => value === undefined,
  '=': areEqual,
  '<>': (a, b) => !areEqual(a, b),
  '<': (a, b) => compare(a, b) < 0,
  '<=': (a, b) => compare(a, b) <= 0,
  '>': (a, b) => compare(a, b) > 0,
  '>=': (a, b) => compare(a, b) >= 0,
  BETWEEN: (value, low, high) => compare(value, low) >= 0 && compare(value, high) <= 0,
  IN: (value, ...options) => options.some((option) => areEqual(value, option)),
  begins_with: beginsWith,
  contains,
}

export function holds(condition: Condition, item: Item, values: Values): boolean {
  if ('of' in condition) return !holds(condition.of, item, values)
  if ('left' in condition) {
    const isLeft = holds(condition.left, item, values)
    return isLeft === (condition.kind === 'OR') ? isLeft : holds(condition.right, item, values)
  }
  const [first, ...others] = condition.operands.map((operand) => read(operand, item, values))
  return TESTS[condition.kind](first, ...others)
}

function read(operand: Operand, item: Item, values: Values): Found {
  if (operand.kind === 'size') return sizeOf(read(operand.of, item, values))
  return operand.kind === 'value' ? values[operand.token] : attribute(item, operand.name)
}

/** A missing attribute equals nothing. */
function areEqual(a: Found, b: Found): boolean {
  return a !== undefined && b !== undefined && equals(a, b)
}

/** The names of all attributes in a condition or a part of one. */
export function namesIn(part: object): string[] {
  if ('name' in part) return [String(part.name)]
  return Object.values(part).flatMap((inner) => (typeof inner === 'object' ? namesIn(inner) : []))
}
