import { type Check, type Context, checkDistinct, checkOverlap, checkType, type Read, readPath } from './context.ts'
import { type Change, type Operand, type Path, placeInList, type Update } from './expression.ts'
import { validationError } from './failures.ts'
import { difference, isNumeric, type Numeric, sum } from './number.ts'
import {
  attribute,
  dictionaryOf,
  type ElementSet,
  type Item,
  isMap,
  isSet,
  type TypeName,
  typeOf,
  union,
  type Value,
  without,
} from './value.ts'

type Target = { readonly path: Path; readonly was: Read }

export type CompiledUpdate = {
  /** The changes of SET and of ADD. */
  readonly sets: readonly (Target & { readonly value: (context: Context) => Value })[]
  readonly removes: readonly Target[]
  readonly deletes: readonly (Target & { readonly value: (context: Context) => Value | undefined })[]
  readonly paths: readonly Path[]
  /** True if a value of the item may be in it twice afterwards. */
  readonly copies: boolean
  readonly checks: readonly Check[]
}

type Draft = Record<string, Value>
/** A list that is being changed. A member that was removed leaves a hole, and one beyond the end stays at its index. */
type ListDraft = (Value | undefined)[]

const NUMBER: ReadonlySet<TypeName> = new Set(['N'])
const TO_ADD: ReadonlySet<TypeName> = new Set(['N', 'SS', 'NS', 'BS'])
const TO_DELETE: ReadonlySet<TypeName> = new Set(['SS', 'NS', 'BS'])
const LIST: ReadonlySet<TypeName> = new Set(['L'])

export function compileUpdate(update: Update, vocabulary: readonly string[]): CompiledUpdate {
  const { sets, removes, adds, deletes } = update
  const paths = [...[...sets, ...adds, ...deletes].map(({ path }) => path), ...removes]
  return {
    sets: [...sets.map(({ path, value }) => ({ ...targetAt(path), value: toValue(value) })), ...adds.map(addition)],
    removes: removes.map(targetAt),
    deletes: deletes.map(deletion),
    paths,
    copies: sets.some(({ value }) => value.kind !== 'value' && value.kind !== 'sum' && value.kind !== 'difference'),
    checks: [
      ...checkOverlap(paths, vocabulary),
      ...sets.flatMap(({ value }) => checkOperand(value)),
      ...adds.flatMap(({ value }) => checkType(value, TO_ADD, 'ADD')),
      ...deletes.flatMap(({ value }) => checkType(value, TO_DELETE, 'DELETE')),
    ],
  }
}

function targetAt(path: Path): Target {
  return { path, was: readPath(path) }
}

function addition({ path, value }: Change) {
  const target = targetAt(path)
  return { ...target, value: (context: Context) => added(target.was(context), context.values[value.value] as Value) }
}

function added(old: Value | undefined, value: Value): Value {
  if (old === undefined) return value
  return isSet(value) ? union(setLike(value, old), value) : sum(numeric(old), numeric(value))
}

function deletion({ path, value }: Change) {
  const target = targetAt(path)
  return {
    ...target,
    value: (context: Context) => {
      const old = target.was(context)
      const taken = context.values[value.value] as ElementSet
      return old === undefined ? undefined : without(setLike(taken, old), taken)
    },
  }
}

/** The item after the update. Every value is read from the item as it was before. */
export function applyUpdate({ sets, removes, deletes }: CompiledUpdate, context: Context): Item {
  const { item, names } = context
  const next: Draft = { ...item }
  const lists = new Set<ListDraft>()
  const change = (path: Path, value: Value | undefined) => changeAt(next, item, path, names, lists, value)
  for (const { path, value } of sets) change(path, value(context))
  for (const { path } of removes) change(path, undefined)
  for (const { path, value } of deletes) change(path, value(context))
  for (const list of lists) closeUp(list)
  return next
}

function closeUp(list: ListDraft): void {
  list.splice(0, list.length, ...list.filter((member) => member !== undefined))
}

/** Without a value, the attribute is removed. */
function changeAt(
  next: Draft,
  old: Item,
  path: Path,
  names: readonly string[],
  lists: Set<ListDraft>,
  value: Value | undefined,
): void {
  const target = parentOf(next, old, path, names, lists)
  const step = path.at(-1) as number
  const place = placeInList(step)
  if (place !== undefined) {
    if (!Array.isArray(target)) throw invalidPath()
    if (value !== undefined || place < target.length) target[place] = value
    return
  }
  if (Array.isArray(target)) throw invalidPath()
  const name = names[step] as string
  if (value === undefined) delete target[name]
  else target[name] = value
}

/** The map or list in the new item that holds the end of the path. */
function parentOf(
  next: Draft,
  old: Item,
  path: Path,
  names: readonly string[],
  lists: Set<ListDraft>,
): Draft | ListDraft {
  let target: Draft | ListDraft = next
  let source: Value = old
  for (let depth = 0; depth < path.length - 1; depth++) {
    const step = path[depth] as number
    source = containerAt(source, step, names)
    target = ownContainer(target, source, placeInList(step) ?? (names[step] as string), lists)
  }
  return target
}

function containerAt(source: Value, step: number, names: readonly string[]): Item | readonly Value[] {
  const place = placeInList(step)
  const value =
    place === undefined
      ? isMap(source) && attribute(source, names[step] as string)
      : Array.isArray(source) && (source as readonly Value[])[place]
  if (value && (isMap(value) || Array.isArray(value))) return value
  throw invalidPath()
}

/** The map or list in the new item. At the first visit it is still the old one, and is copied. */
function ownContainer(
  target: Draft | ListDraft,
  source: Item | readonly Value[],
  at: string | number,
  lists: Set<ListDraft>,
): Draft | ListDraft {
  const members = target as Record<string | number, unknown>
  if (members[at] === source) {
    members[at] = isMap(source) ? dictionaryOf(source) : [...source]
    if (!isMap(source)) lists.add(members[at] as ListDraft)
  }
  return members[at] as Draft | ListDraft
}

function invalidPath() {
  return validationError('The document path provided in the update expression is invalid for update')
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
        // Always read, and first: a path that does not exist is an error even if its value is not needed.
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
    case 'append': {
      const [left, right] = [toValue(operand.left), toValue(operand.right)]
      return (context) => [...listOf(left(context)), ...listOf(right(context))]
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

function listOf(value: Value): readonly Value[] {
  if (Array.isArray(value)) return value
  throw wrongType()
}

function setLike(set: ElementSet, value: Value): ElementSet {
  if (isSet(value) && typeOf(value) === typeOf(set)) return value
  throw wrongType()
}

function wrongType() {
  return validationError('An operand in the update expression has an incorrect data type')
}

function checkOperand(operand: Operand): Check[] {
  if (operand.kind === 'ifNotExists') {
    return [...checkDistinct(operand.path, [operand.otherwise]), ...checkOperand(operand.otherwise)]
  }
  if (!('left' in operand)) return []
  const allowed = operand.kind === 'append' ? LIST : NUMBER
  return [operand.left, operand.right].flatMap((side) => [
    ...checkType(side, allowed, OPERATORS[operand.kind]),
    ...checkOperand(side),
  ])
}

const OPERATORS = { sum: '+', difference: '-', append: 'list_append' }
