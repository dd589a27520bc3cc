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
  switch (condition.kind) {
    case 'AND':
      return holds(condition.left, item, values) && holds(condition.right, item, values)
    case 'OR':
      return holds(condition.left, item, values) || holds(condition.right, item, values)
    case 'NOT':
      return !holds(condition.of, item, values)
    default: {
      const [first, ...others] = condition.operands.map((operand) => read(operand, item, values))
      return TESTS[condition.kind](first, ...others)
    }
  }
}

function read(operand: Operand, item: Item, values: Values): Found {
  switch (operand.kind) {
    case 'attribute':
      return attribute(item, operand.name)
    case 'value':
      return values[operand.token]
    case 'size':
      return sizeOf(read(operand.of, item, values))
  }
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
