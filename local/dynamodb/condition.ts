import { type Check, type Context, checkDistinct, checkType, readOperand, readPath } from './context.ts'
import type { Comparator, Condition, Operand, Path } from './expression.ts'
import { validationError } from './failures.ts'
import { beginsWith, compare, contains, equals, type TypeName, typeOf, type Value } from './value.ts'

export type Test = (context: Context) => boolean
export type CompiledCondition = { readonly test: Test; readonly checks: readonly Check[] }

const TYPE_NAMES: ReadonlySet<string> = new Set(['S', 'N', 'B', 'SS', 'NS', 'BS', 'BOOL', 'NULL', 'L', 'M'])
const ORDERED: ReadonlySet<TypeName> = new Set(['S', 'N', 'B'])
const WITH_BEGINNING: ReadonlySet<TypeName> = new Set(['S', 'B'])
const WITH_SIZE: ReadonlySet<TypeName> = new Set(['S', 'B', 'SS', 'NS', 'BS', 'L', 'M'])

export function compileCondition(condition: Condition): CompiledCondition {
  return { test: testOf(condition), checks: checksOf(condition) }
}

export function pathsIn(condition: Condition): Path[] {
  switch (condition.kind) {
    case 'and':
    case 'or':
      return [...pathsIn(condition.left), ...pathsIn(condition.right)]
    case 'not':
      return pathsIn(condition.of)
    case 'exists':
      return [condition.path]
    default:
      return operandsOf(condition).flatMap(pathOf)
  }
}

function pathOf(operand: Operand): Path[] {
  if (operand.kind === 'size') return pathOf(operand.of)
  return operand.kind === 'path' ? [operand.path] : []
}

const TESTS = { beginsWith, contains, type: (value: Value, name: Value) => typeOf(value) === name }

type Leaf = Exclude<Condition, { readonly kind: 'and' | 'or' | 'not' | 'exists' }>

function operandsOf(condition: Leaf): Operand[] {
  switch (condition.kind) {
    case 'compare':
      return [condition.left, condition.right]
    case 'between':
      return [condition.of, condition.low, condition.high]
    case 'in':
      return [condition.of, ...condition.options]
    case 'beginsWith':
    case 'contains':
    case 'type':
      return [condition.of, condition.part]
  }
}

function testOf(condition: Condition): Test {
  switch (condition.kind) {
    case 'and':
    case 'or':
      return testBoth(condition.kind, testOf(condition.left), testOf(condition.right))
    case 'not': {
      const test = testOf(condition.of)
      return (context) => !test(context)
    }
    case 'exists': {
      const { expected } = condition
      const read = readPath(condition.path)
      return (context) => (read(context) !== undefined) === expected
    }
    case 'compare':
      return testComparison(condition.comparator, condition.left, condition.right)
    case 'between':
      return testBetween(condition.of, condition.low, condition.high)
    case 'in': {
      const tests = condition.options.map((option) => testComparison('=', condition.of, option))
      return (context) => tests.some((test) => test(context))
    }
    case 'beginsWith':
    case 'contains':
    case 'type': {
      const test = TESTS[condition.kind]
      const [of, part] = [readOperand(condition.of), readOperand(condition.part)]
      return (context) => bothThere(of(context), part(context), test)
    }
  }
}

function testBoth(kind: 'and' | 'or', left: Test, right: Test): Test {
  return kind === 'and' ? (context) => left(context) && right(context) : (context) => left(context) || right(context)
}

function testComparison(comparator: Comparator, left: Operand, right: Operand): Test {
  const [a, b] = [readOperand(left), readOperand(right)]
  switch (comparator) {
    case '=':
      return (context) => bothThere(a(context), b(context), equals)
    case '<>':
      return (context) => !bothThere(a(context), b(context), equals)
    case '<':
      return (context) => order(a(context), b(context)) < 0
    case '<=':
      return (context) => order(a(context), b(context)) <= 0
    case '>':
      return (context) => order(a(context), b(context)) > 0
    case '>=':
      return (context) => order(a(context), b(context)) >= 0
  }
}

function testBetween(of: Operand, low: Operand, high: Operand): Test {
  const [value, from, to] = [readOperand(of), readOperand(low), readOperand(high)]
  return (context) => {
    const found = value(context)
    return order(found, from(context)) >= 0 && order(found, to(context)) <= 0
  }
}

function bothThere(a: Value | undefined, b: Value | undefined, test: (a: Value, b: Value) => boolean): boolean {
  return a !== undefined && b !== undefined && test(a, b)
}

/** NaN, for which no comparison holds, if the two have no order or one is missing. */
function order(a: Value | undefined, b: Value | undefined): number {
  return a === undefined || b === undefined ? Number.NaN : (compare(a, b) ?? Number.NaN)
}

function checksOf(condition: Condition): Check[] {
  switch (condition.kind) {
    case 'and':
    case 'or':
      return [...checksOf(condition.left), ...checksOf(condition.right)]
    case 'not':
      return checksOf(condition.of)
    case 'exists':
      return []
    case 'compare':
      return isOrdered(condition.comparator) ? checkLeaf(condition, ORDERED) : checkLeaf(condition)
    case 'between':
      return [...checkLeaf(condition, ORDERED), ...checkBounds(condition.low, condition.high)]
    case 'in':
    case 'contains':
      return checkLeaf(condition)
    case 'beginsWith':
      return checkLeaf(condition, WITH_BEGINNING)
    case 'type':
      return [...checkLeaf(condition), checkTypeName(condition.part)]
  }
}

function checkTypeName(part: Operand): Check {
  return ({ values }) => {
    const name = part.kind === 'value' ? values[part.value] : undefined
    if (typeof name !== 'string' || !TYPE_NAMES.has(name)) {
      throw validationError('Invalid attribute type name found; type: attribute_type takes one of the names of types')
    }
  }
}

function isOrdered(comparator: Comparator): boolean {
  return comparator !== '=' && comparator !== '<>'
}

function checkLeaf(condition: Leaf, allowed?: ReadonlySet<TypeName>): Check[] {
  const operands = operandsOf(condition)
  const [first, ...others] = operands
  return [
    ...operands.flatMap((operand) => (operand.kind === 'size' ? checkType(operand.of, WITH_SIZE, 'size') : [])),
    ...(first?.kind === 'path' ? checkDistinct(first.path, others) : []),
    ...(allowed ? operands.flatMap((operand) => checkType(operand, allowed, condition.kind)) : []),
  ]
}

function checkBounds(low: Operand, high: Operand): Check[] {
  if (low.kind !== 'value' || high.kind !== 'value') return []
  return [
    ({ values }) => {
      const [from, to] = [values[low.value] as Value, values[high.value] as Value]
      if (typeOf(from) !== typeOf(to)) {
        throw validationError('The BETWEEN operator requires same data type for lower and upper bounds')
      }
      if (order(from, to) > 0) {
        throw validationError('The BETWEEN operator requires upper bound to be greater than or equal to lower bound')
      }
    },
  ]
}
