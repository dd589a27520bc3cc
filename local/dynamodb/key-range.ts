import type { Condition, Operand, Test } from './expression.ts'
import { validationError } from './failures.ts'
import type { Values } from './program.ts'
import type { RangeSide, Schema } from './stored-table.ts'
import { compareText } from './value.ts'

export type KeyRange = {
  readonly partition: string
  readonly side: RangeSide
  /** The bounds that are themselves within. No item follows one at the bound, and DynamoDB Local knows it. */
  readonly lowest?: string | undefined
  readonly highest?: string | undefined
}

type Side = (sort: string, value: string, high: string) => number

const SIDES: Readonly<Partial<Record<Test['kind'], Side>>> = {
  '=': compareText,
  '<': (sort, value) => (compareText(sort, value) < 0 ? 0 : 1),
  '<=': (sort, value) => (compareText(sort, value) <= 0 ? 0 : 1),
  '>': (sort, value) => (compareText(sort, value) > 0 ? 0 : -1),
  '>=': (sort, value) => (compareText(sort, value) >= 0 ? 0 : -1),
  BETWEEN: (sort, low, high) => (compareText(sort, low) < 0 ? -1 : Math.max(0, compareText(sort, high))),
  begins_with: (sort, prefix) => (sort.startsWith(prefix) ? 0 : compareText(sort, prefix)),
}
const TURNED: Readonly<Partial<Record<Test['kind'], Test['kind']>>> = { '<': '>', '<=': '>=', '>': '<', '>=': '<=' }

export function keyRange(condition: Condition, { partitionKey, sortKey }: Schema, values: Values): KeyRange {
  const tests = testsIn(condition).map(attributeFirst)
  const byName = new Map(tests.map((test) => [nameOf(test), test]))
  if (byName.size !== tests.length)
    throw validationError('KeyConditionExpressions must only contain one condition per key')
  const partition = byName.get(partitionKey)
  const sort = sortKey === undefined ? undefined : byName.get(sortKey)
  if (!partition || tests.length !== (sort ? 2 : 1)) throw validationError('Query condition missed key schema element')
  if (partition.kind !== '=') throw validationError('Query key condition not supported')
  const [name = ''] = textsIn(partition, values)
  return { partition: name, ...(sort ? sortRange(sort, values) : { side: () => 0 }) }
}

function testsIn(condition: Condition): Test[] {
  if (condition.kind === 'AND') return [...testsIn(condition.left), ...testsIn(condition.right)]
  if (condition.kind in SIDES) return [condition as Test]
  throw validationError(`Invalid operator used in KeyConditionExpression: ${condition.kind}`)
}

function attributeFirst(test: Test): Test {
  const { kind, operands } = test
  if (operands.length !== 2 || operands[1]?.kind !== 'attribute' || kind === 'begins_with') return test
  return { kind: TURNED[kind] ?? kind, operands: operands.toReversed() }
}

function nameOf({ operands: [operand] }: Test): string {
  if (operand?.kind === 'attribute') return operand.name
  throw validationError('KeyConditionExpressions cannot have other operands')
}

function sortRange(test: Test, values: Values): Omit<KeyRange, 'partition'> {
  const { kind } = test
  const [value = '', high = ''] = textsIn(test, values)
  const side = SIDES[kind] as Side
  return {
    side: (sort) => side(sort, value, high),
    lowest: kind === '>=' || kind === 'BETWEEN' ? value : undefined,
    highest: kind === '<=' ? value : kind === 'BETWEEN' ? high : undefined,
  }
}

function textsIn({ operands }: Test, values: Values): string[] {
  return operands.slice(1).map((operand: Operand) => {
    const value = operand.kind === 'value' ? values[operand.token] : undefined
    if (typeof value !== 'string') throw validationError('Condition parameter type does not match schema type')
    if (value === '') throw validationError('A key attribute cannot contain an empty string value')
    return value
  })
}
