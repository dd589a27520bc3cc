import type { Context } from './context.ts'
import type { Comparator, Condition, Operand } from './expression.ts'
import { validationError } from './failures.ts'
import type { Schema } from './stored-table.ts'
import { compareText } from './value.ts'

/** The part of a partition that a key condition names. */
export type KeyRange = {
  readonly partition: string
  readonly isBefore: (sort: string) => boolean
  readonly isAfter: (sort: string) => boolean
  /** The bounds that are themselves within. No item follows one at the bound, and DynamoDB Local knows it. */
  readonly lowest?: string
  readonly highest?: string
}

type Bounds = Omit<KeyRange, 'partition'>
type Leaf = Extract<Condition, { readonly kind: 'compare' | 'between' | 'beginsWith' }>

const EVERYTHING: Bounds = { isBefore: () => false, isAfter: () => false }
const TURNED: Record<Comparator, Comparator> = { '=': '=', '<>': '<>', '<': '>', '<=': '>=', '>': '<', '>=': '<=' }

export function keyRange(condition: Condition, schema: Schema, context: Context): KeyRange {
  const leaves = leavesOf(condition).map(pathFirst)
  const byName = new Map(leaves.map((leaf) => [nameOf(leaf, context), leaf]))
  if (byName.size !== leaves.length)
    throw validationError('KeyConditionExpressions must only contain one condition per key')
  const partition = byName.get(schema.partitionKey)
  const sort = schema.sortKey === undefined ? undefined : byName.get(schema.sortKey)
  if (!partition || leaves.length !== (sort ? 2 : 1)) throw validationError('Query condition missed key schema element')
  if (partition.kind !== 'compare' || partition.comparator !== '=') {
    throw validationError('Query key condition not supported')
  }
  return {
    partition: textOf(partition.right, context),
    ...(sort ? boundsOf(sort, context) : EVERYTHING),
  }
}

function leavesOf(condition: Condition): Leaf[] {
  switch (condition.kind) {
    case 'and':
      return [...leavesOf(condition.left), ...leavesOf(condition.right)]
    case 'compare':
    case 'between':
    case 'beginsWith':
      return [condition]
    default:
      throw validationError(`Invalid operator used in KeyConditionExpression: ${condition.kind}`)
  }
}

function pathFirst(leaf: Leaf): Leaf {
  if (leaf.kind !== 'compare' || leaf.right.kind !== 'path') return leaf
  return { ...leaf, comparator: TURNED[leaf.comparator], left: leaf.right, right: leaf.left }
}

function nameOf(leaf: Leaf, { names }: Context): string {
  const operand = leaf.kind === 'compare' ? leaf.left : leaf.of
  if (operand.kind !== 'path' || operand.path.length !== 1) {
    throw validationError('KeyConditionExpressions cannot have nested attributes or other operands')
  }
  return names[operand.path[0] as number] as string
}

function textOf(operand: Operand, { values }: Context): string {
  const value = operand.kind === 'value' ? values[operand.value] : undefined
  if (typeof value !== 'string') throw validationError('Condition parameter type does not match schema type')
  if (value === '') throw validationError('A key attribute cannot contain an empty string value')
  return value
}

function boundsOf(leaf: Leaf, context: Context): Bounds {
  if (leaf.kind === 'between') {
    const [low, high] = [textOf(leaf.low, context), textOf(leaf.high, context)]
    return {
      isBefore: (sort) => compareText(sort, low) < 0,
      isAfter: (sort) => compareText(sort, high) > 0,
      lowest: low,
      highest: high,
    }
  }
  if (leaf.kind === 'beginsWith') {
    const prefix = textOf(leaf.part, context)
    return {
      isBefore: (sort) => compareText(sort, prefix) < 0,
      isAfter: (sort) => compareText(sort, prefix) > 0 && !sort.startsWith(prefix),
    }
  }
  return boundsOfComparison(leaf.comparator, textOf(leaf.right, context))
}

function boundsOfComparison(comparator: Comparator, value: string): Bounds {
  const order = (sort: string) => compareText(sort, value)
  switch (comparator) {
    case '=':
      return { isBefore: (sort) => order(sort) < 0, isAfter: (sort) => order(sort) > 0 }
    case '<':
      return { ...EVERYTHING, isAfter: (sort) => order(sort) >= 0 }
    case '<=':
      return { ...EVERYTHING, isAfter: (sort) => order(sort) > 0, highest: value }
    case '>':
      return { ...EVERYTHING, isBefore: (sort) => order(sort) <= 0 }
    case '>=':
      return { ...EVERYTHING, isBefore: (sort) => order(sort) < 0, lowest: value }
    case '<>':
      throw validationError('Invalid operator used in KeyConditionExpression: <>')
  }
}
