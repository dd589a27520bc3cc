import { type Operand, type Path, placeInList } from './expression.ts'
import { validationError } from './failures.ts'
import { attribute, type Item, isMap, sizeOf, type TypeName, typeOf, type Value } from './value.ts'

/** One command's names and values, each at the index that its program gave it, and the item they are applied to. */
export type Context = { item: Item; readonly names: readonly string[]; readonly values: readonly Value[] }

export type Read = (context: Context) => Value | undefined

/** Throws for a fault that DynamoDB refuses before it looks at any item. */
export type Check = (context: Context) => void

export function readPath(path: Path): Read {
  const [first] = path as [number]
  if (path.length === 1) return ({ item, names }) => attribute(item, names[first] as string)
  return ({ item, names }) => {
    let value: Value | undefined = item
    for (const step of path) value = value === undefined ? undefined : memberAt(value, step, names)
    return value
  }
}

function memberAt(value: Value, step: number, names: readonly string[]): Value | undefined {
  const place = placeInList(step)
  if (place !== undefined) return Array.isArray(value) ? value[place] : undefined
  return isMap(value) ? attribute(value, names[step] as string) : undefined
}

/** An operand of a condition: an attribute that does not exist is undefined, and no error. */
export function readOperand(operand: Operand): Read {
  if (operand.kind === 'path') return readPath(operand.path)
  if (operand.kind === 'value') {
    const { value } = operand
    return (context) => context.values[value]
  }
  if (operand.kind !== 'size') throw new Error(`no operand of a condition: ${operand.kind}`)
  const read = readOperand(operand.of)
  return (context) => {
    const value = read(context)
    return value === undefined ? undefined : sizeOf(value)
  }
}

function samePath(a: Path, b: Path, names: readonly string[]): boolean {
  return a.length === b.length && startsWithPath(a, b, names)
}

function startsWithPath(path: Path, start: Path, names: readonly string[]): boolean {
  return start.every((step, i) => sameStep(step, path[i] as number, names))
}

function sameStep(a: number, b: number, names: readonly string[]): boolean {
  return a === b || (a >= 0 && b >= 0 && names[a] === names[b])
}

/** The type of an operand if it does not depend on the item: undefined for a path. */
function certainType(operand: Operand, { values }: Context): TypeName | undefined {
  if (operand.kind === 'size') return 'N'
  return operand.kind === 'value' ? typeOf(values[operand.value] as Value) : undefined
}

export function checkType(operand: Operand, allowed: ReadonlySet<TypeName>, operator: string): Check[] {
  if (operand.kind === 'path') return []
  return [
    (context) => {
      const type = certainType(operand, context)
      if (type && !allowed.has(type)) {
        throw validationError(
          `Incorrect operand type for operator or function; operator or function: ${operator}, operand type: ${type}`,
        )
      }
    },
  ]
}

/** The first operand may not be one of the others. */
export function checkDistinct(path: Path, others: readonly Operand[]): Check[] {
  return others.flatMap((other) => {
    if (other.kind !== 'path') return []
    return ({ names }) => {
      if (samePath(path, other.path, names)) {
        throw validationError('The first operand must be distinct from the remaining operands')
      }
    }
  })
}

/** No path may be another one, or lead to it. */
export function checkOverlap(paths: readonly Path[], vocabulary: readonly string[]): Check[] {
  const doubtful = paths.flatMap((path, i) =>
    paths.slice(i + 1).flatMap((other) => (surelyApart(path, other, vocabulary) ? [] : [[path, other] as const])),
  )
  if (doubtful.length === 0) return []
  return [
    ({ names }) => {
      for (const [a, b] of doubtful) {
        const [long, short] = a.length > b.length ? [a, b] : [b, a]
        if (startsWithPath(long, short, names)) throw validationError('Two document paths overlap with each other')
        if (takesBothFor(a, b, names)) throw validationError('Two document paths conflict with each other')
      }
    },
  ]
}

/** True if one path expects a map and the other a list at the same step. */
function takesBothFor(a: Path, b: Path, names: readonly string[]): boolean {
  const at = a.findIndex((step, i) => b[i] === undefined || !sameStep(step, b[i], names))
  const [left, right] = [a[at], b[at]]
  return left !== undefined && right !== undefined && left < 0 !== right < 0
}

/** True if they differ already as they are written, for any meaning of the placeholders. */
function surelyApart(a: Path, b: Path, vocabulary: readonly string[]): boolean {
  const [first, other] = [vocabulary[a[0] as number] ?? '', vocabulary[b[0] as number] ?? '']
  return first !== other && !first.startsWith('#') && !other.startsWith('#')
}
