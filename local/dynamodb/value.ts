import { validationError } from './failures.ts'
import { isNumeric, type Numeric, significantDigits } from './number.ts'

/** A stored value: never changed in place, so that versions of an item can share their common parts. */
export type Value = string | Numeric | boolean | null | Uint8Array | ElementSet | readonly Value[] | Item
export type Item = { readonly [name: string]: Value }

/** None twice, and never empty. Their order has no meaning. */
export type ElementSet = ReadonlySet<Uint8Array>

/** Undefined for what does not exist, which is no error. */
export type Found = Value | undefined

export type TypeName = 'S' | 'N' | 'B' | 'BS' | 'BOOL' | 'NULL' | 'L' | 'M'

export function typeOf(value: Value): TypeName {
  if (typeof value === 'string') return 'S'
  if (isNumeric(value)) return 'N'
  if (typeof value === 'boolean') return 'BOOL'
  if (value === null) return 'NULL'
  if (Array.isArray(value)) return 'L'
  if (value instanceof Uint8Array) return 'B'
  return isSet(value) ? 'BS' : 'M'
}

export function isSet(value: Found): value is ElementSet {
  return value instanceof Set
}

export function attribute(item: Item, name: string): Found {
  return Object.hasOwn(item, name) ? item[name] : undefined
}

export function pick(item: Item, names: readonly string[]): Item {
  const there = names.filter((name) => attribute(item, name) !== undefined)
  return Object.fromEntries(there.map((name) => [name, item[name] as Value]))
}

export function equals(a: Value, b: Value): boolean {
  if (a === b) return true
  if (typeof a !== 'object' || typeof b !== 'object' || a === null || b === null) return false
  const type = typeOf(a)
  if (type !== typeOf(b)) return false
  if (type === 'M') return mapsEqual(a as Item, b as Item)
  if (type === 'B') return compare(a, b) === 0
  if (isSet(a) && isSet(b)) return a.size === b.size && !without(a, b)
  const [left, right] = [a as readonly Value[], b as readonly Value[]]
  return left.length === right.length && left.every((member, i) => equals(member, right[i] as Value))
}

function mapsEqual(a: Item, b: Item): boolean {
  const names = Object.keys(a)
  if (names.length !== Object.keys(b).length) return false
  return names.every((name) => Object.hasOwn(b, name) && equals(a[name] as Value, b[name] as Value))
}

export function hasElement(set: ElementSet, element: Uint8Array): boolean {
  for (const one of set) if (Buffer.compare(one, element) === 0) return true
  return false
}

export function union(a: ElementSet, b: ElementSet): ElementSet {
  const all = new Set(a)
  for (const element of b) if (!hasElement(a, element)) all.add(element)
  return all
}

/** Undefined if nothing is left, since no set is empty. */
export function without(set: ElementSet, others: ElementSet): ElementSet | undefined {
  const left = new Set<Uint8Array>()
  for (const element of set) if (!hasElement(others, element)) left.add(element)
  return left.size === 0 ? undefined : left
}

/** Negative, zero or positive; NaN, for which no comparison holds, if the two have no order. */
export function compare(a: Found, b: Found): number {
  if (isNumeric(a) && isNumeric(b)) return a < b ? -1 : Number(a > b)
  if (typeof a === 'string' && typeof b === 'string') return compareText(a, b)
  return a instanceof Uint8Array && b instanceof Uint8Array ? Buffer.compare(a, b) : Number.NaN
}

/** In the order of the UTF-8 bytes, which beyond U+FFFF is not the order of JS strings. */
export function compareText(a: string, b: string): number {
  if (a === b) return 0
  const length = Math.min(a.length, b.length)
  for (let i = 0; i < length; i++) {
    const [left, right] = [a.charCodeAt(i), b.charCodeAt(i)]
    if (left !== right) return byteOrder(left) - byteOrder(right)
  }
  return a.length - b.length
}

function byteOrder(unit: number): number {
  if (unit < 0xd800) return unit
  return unit < 0xe000 ? unit + 0x2000 : unit - 0x800
}

export function sizeOf(value: Found): number | undefined {
  if (typeof value === 'string' || Array.isArray(value) || value instanceof Uint8Array) return value.length
  if (isSet(value)) return value.size
  return value !== undefined && typeOf(value) === 'M' ? Object.keys(value as Item).length : undefined
}

export function beginsWith(value: Found, prefix: Found): boolean {
  if (typeof value === 'string') return typeof prefix === 'string' && value.startsWith(prefix)
  if (!(value instanceof Uint8Array && prefix instanceof Uint8Array)) return false
  return Buffer.compare(value.subarray(0, prefix.length), prefix) === 0
}

/** True for a part of a text or of bytes, an element of a set, a member of a list. */
export function contains(value: Found, part: Found): boolean {
  if (typeof value === 'string') return typeof part === 'string' && value.includes(part)
  if (part === undefined) return false
  if (Array.isArray(value)) return value.some((member) => equals(member, part))
  if (!(part instanceof Uint8Array)) return false
  if (isSet(value)) return hasElement(value, part)
  if (!(value instanceof Uint8Array)) return false
  return Buffer.from(value.buffer, value.byteOffset, value.length).indexOf(part) >= 0
}

// The size of an item by the Amazon DynamoDB Developer Guide: "DynamoDB item sizes and formats" (CapacityUnitCalculations).

const MOST_ITEM_BYTES = 400 * 1024

export function ofAllowedSize(item: Item, what: string): Item {
  if (itemBytes(item) <= MOST_ITEM_BYTES) return item
  throw validationError(`${what} has exceeded the maximum allowed size`)
}

/** "The total size of an item is the sum of the lengths of its attribute names and values." */
export function itemBytes(item: Item): number {
  let bytes = 0
  for (const name in item) bytes += Buffer.byteLength(name) + valueBytes(item[name] as Value)
  return bytes
}

function valueBytes(value: Value): number {
  if (typeof value === 'string') return Buffer.byteLength(value)
  // "Approximately 1 byte per two significant digits, and 1 byte"; zeroes at either end do not count, a minus does.
  if (isNumeric(value)) return Math.ceil(significantDigits(value) / 2) + 1 + (value < 0 ? 1 : 0)
  if (value === null || typeof value === 'boolean') return 1
  if (value instanceof Uint8Array) return value.length
  if (isSet(value)) return sumOf(value)
  // "An attribute of type List or Map requires 3 bytes of overhead", and "each List or Map element also 1 byte".
  if (Array.isArray(value)) return 3 + sumOf(value as readonly Value[]) + value.length
  return 3 + itemBytes(value as Item) + Object.keys(value).length
}

function sumOf(values: Iterable<Value>): number {
  let total = 0
  for (const value of values) total += valueBytes(value)
  return total
}
