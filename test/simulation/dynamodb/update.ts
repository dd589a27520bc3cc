import { type Check, type Context, checkDistinct, checkOverlap, checkType, type Read, readPath } from './context.ts'
import type { Change, Operand, Path, Update } from './expression.ts'
import { validationError } from './failures.ts'
import { difference, isNumeric, type Numeric, sum } from './number.ts'
import {
  attribute,
  type BinarySet,
  dictionaryOf,
  type Item,
  isBinarySet,
  isMap,
  type TypeName,
  union,
  type Value,
  without,
} from './value.ts'

type Place = { readonly path: Path; readonly was: Read }

export type CompiledUpdate = {
  /** Of SET and of ADD. */
  readonly sets: readonly (Place & { readonly value: (context: Context) => Value })[]
  readonly removes: readonly Place[]
  readonly deletes: readonly (Place & { readonly value: (context: Context) => Value | undefined })[]
  readonly paths: readonly Path[]
  readonly checks: readonly Check[]
}

type Draft = Record<string, Value>

const NUMBER: ReadonlySet<TypeName> = new Set(['N'])
const TO_ADD: ReadonlySet<TypeName> = new Set(['N', 'BS'])
const TO_DELETE: ReadonlySet<TypeName> = new Set(['BS'])

export function compileUpdate(update: Update, vocabulary: readonly string[]): CompiledUpdate {
  const { sets, removes, adds, deletes } = update
  const paths = [...[...sets, ...adds, ...deletes].map(({ path }) => path), ...removes]
  return {
    sets: [...sets.map(({ path, value }) => ({ ...placeAt(path), value: toValue(value) })), ...adds.map(addition)],
    removes: removes.map(placeAt),
    deletes: deletes.map(deletion),
    paths,
    checks: [
      ...checkOverlap(paths, vocabulary),
      ...sets.flatMap(({ value }) => checkOperand(value)),
      ...adds.flatMap(({ value }) => checkType(value, TO_ADD, 'ADD')),
      ...deletes.flatMap(({ value }) => checkType(value, TO_DELETE, 'DELETE')),
    ],
  }
}

function placeAt(path: Path): Place {
  return { path, was: readPath(path) }
}

function addition({ path, value }: Change) {
  const place = placeAt(path)
  return { ...place, value: (context: Context) => added(place.was(context), context.values[value.value] as Value) }
}

function added(old: Value | undefined, value: Value): Value {
  if (old === undefined) return value
  return isBinarySet(value) ? union(binarySet(old), value) : sum(numeric(old), numeric(value))
}

function deletion({ path, value }: Change) {
  const place = placeAt(path)
  return {
    ...place,
    value: (context: Context) => {
      const old = place.was(context)
      return old === undefined ? undefined : without(binarySet(old), context.values[value.value] as BinarySet)
    },
  }
}

/** The item after the update. Every value is read from the item as it was before. */
export function applyUpdate({ sets, removes, deletes }: CompiledUpdate, context: Context): Item {
  const { item, names } = context
  const next: Draft = { ...item }
  for (const { path, value } of sets) setAt(next, item, path, names, value(context))
  for (const { path } of removes) removeAt(next, item, path, names)
  for (const { path, value } of deletes) {
    const left = value(context)
    if (left === undefined) removeAt(next, item, path, names)
    else setAt(next, item, path, names, left)
  }
  return next
}

function setAt(next: Draft, old: Item, path: Path, names: readonly string[], value: Value): void {
  const target = parentOf(next, old, path, names)
  target[names[path.at(-1) as number] as string] = value
}

function removeAt(next: Draft, old: Item, path: Path, names: readonly string[]): void {
  const target = parentOf(next, old, path, names)
  delete target[names[path.at(-1) as number] as string]
}

function mapIn(old: Item, name: string): Item {
  const value = attribute(old, name)
  if (!isMap(value)) {
    throw validationError('The document path provided in the update expression is invalid for update')
  }
  return value
}

/** The map in the new item that the path ends in. */
function parentOf(next: Draft, old: Item, path: Path, names: readonly string[]): Draft {
  let [target, source] = [next, old]
  for (let depth = 0; depth < path.length - 1; depth++) {
    const name = names[path[depth] as number] as string
    source = mapIn(source, name)
    target = ownMap(target, source, name)
  }
  return target
}

/** The map in the new item: still the old one at the first visit, and copied then. */
function ownMap(target: Draft, source: Item, name: string): Draft {
  if (target[name] === source) target[name] = dictionaryOf(source)
  return target[name] as Draft
}

function toValue(operand: Operand): (context: Context) => Value {
  switch (operand.kind) {
    case 'value': {
      const { value } = operand
      return (context) => context.values[value] as Value
    }
    case 'path': {
      const read = readPath(operand.path)
      return (context) => existing(read(context))
    }
    case 'ifNotExists': {
      const [read, otherwise] = [readPath(operand.path), toValue(operand.otherwise)]
      return (context) => {
        // Read first and always: a path that is not there is an error even if it is not needed.
        const other = otherwise(context)
        const value = read(context)
        return value === undefined ? other : value
      }
    }
    case 'sum':
    case 'difference': {
      const calculate = operand.kind === 'sum' ? sum : difference
      const [left, right] = [toValue(operand.left), toValue(operand.right)]
      return (context) => calculate(numeric(left(context)), numeric(right(context)))
    }
    case 'size':
      throw new Error('no operand of an update: size')
  }
}

function existing(value: Value | undefined): Value {
  if (value !== undefined) return value
  throw validationError('The provided expression refers to an attribute that does not exist in the item')
}

function numeric(value: Value): Numeric {
  if (isNumeric(value)) return value
  throw wrongType()
}

function binarySet(value: Value): BinarySet {
  if (isBinarySet(value)) return value
  throw wrongType()
}

function wrongType() {
  return validationError('An operand in the update expression has an incorrect data type')
}

function checkOperand(operand: Operand): Check[] {
  if (operand.kind === 'ifNotExists') {
    return [...checkDistinct(operand.path, [operand.otherwise]), ...checkOperand(operand.otherwise)]
  }
  if (operand.kind !== 'sum' && operand.kind !== 'difference') return []
  const operator = operand.kind === 'sum' ? '+' : '-'
  return [operand.left, operand.right].flatMap((side) => [...checkType(side, NUMBER, operator), ...checkOperand(side)])
}
