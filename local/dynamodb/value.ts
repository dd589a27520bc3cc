import { compareNumeric, Decimal, isNumeric, type Numeric } from './number.ts'

/** A stored value: never changed in place, so that versions of an item can share their common parts. */
export type Value = string | Numeric | boolean | null | Uint8Array | ElementSet | readonly Value[] | Item
export type Item = { readonly [name: string]: Value }

/** Elements of one type, none twice, and never empty. Their order has no meaning. */
export type ElementSet = ReadonlySet<Element>
export type Element = string | Numeric | Uint8Array

export type TypeName = 'S' | 'N' | 'B' | 'SS' | 'NS' | 'BS' | 'BOOL' | 'NULL' | 'L' | 'M'

export function typeOf(value: Value): TypeName {
  switch (typeof value) {
    case 'string':
      return 'S'
    case 'number':
    case 'bigint':
      return 'N'
    case 'boolean':
      return 'BOOL'
  }
  if (value === null) return 'NULL'
  if (Array.isArray(value)) return 'L'
  if (value instanceof Uint8Array) return 'B'
  if (value instanceof Decimal) return 'N'
  return isSet(value) ? `${typeOf(firstOf(value)) as 'S' | 'N' | 'B'}S` : 'M'
}

function firstOf(set: ElementSet): Element {
  return set.values().next().value as Element
}

export function isMap(value: Value | undefined): value is Item {
  return (
    typeof value === 'object' &&
    value !== null &&
    !Array.isArray(value) &&
    !ArrayBuffer.isView(value as Uint8Array) &&
    !(value instanceof Decimal) &&
    !isSet(value)
  )
}

export function isSet(value: Value | undefined): value is ElementSet {
  return value instanceof Set
}

export function attribute(item: Item, name: string): Value | undefined {
  return Object.hasOwn(item, name) ? item[name] : undefined
}

/**
 * A copy for a map whose names are data, such as request ids. Without a prototype V8 keeps it as a hash table from the
 * start; an ordinary object would get a hidden class for every new name, which takes five times as long.
 */
export function dictionaryOf(map: Item): Record<string, Value> {
  const copy: Record<string, Value> = Object.create(null)
  for (const name in map) copy[name] = map[name] as Value
  return copy
}

export function equals(a: Value, b: Value): boolean {
  if (a === b) return true
  if (typeof a !== 'object' || typeof b !== 'object' || a === null || b === null) return false
  const type = typeOf(a)
  if (type !== typeOf(b)) return false
  if (type === 'M') return mapsEqual(a as Item, b as Item)
  if (type === 'B') return bytesEqual(a as Uint8Array, b as Uint8Array)
  if (type === 'N') return compareNumeric(a as Numeric, b as Numeric) === 0
  if (isSet(a) && isSet(b)) return setsEqual(a, b)
  const [left, right] = [a as readonly Value[], b as readonly Value[]]
  if (left.length !== right.length) return false
  for (let i = 0; i < left.length; i++) if (!equals(left[i] as Value, right[i] as Value)) return false
  return true
}

function mapsEqual(a: Item, b: Item): boolean {
  const names = Object.keys(a)
  if (names.length !== Object.keys(b).length) return false
  return names.every((name) => Object.hasOwn(b, name) && equals(a[name] as Value, b[name] as Value))
}

function bytesEqual(a: Uint8Array, b: Uint8Array): boolean {
  if (a.length !== b.length) return false
  for (let i = 0; i < a.length; i++) if (a[i] !== b[i]) return false
  return true
}

function setsEqual(a: ElementSet, b: ElementSet): boolean {
  return a.size === b.size && !without(a, b)
}

/** Equal texts and integers are identical; bytes and decimals are compared one by one. */
export function hasElement(set: ElementSet, element: Element): boolean {
  if (typeof element !== 'object') return set.has(element)
  for (const one of set) if (equals(one, element)) return true
  return false
}

export function union(a: ElementSet, b: ElementSet): ElementSet {
  const all = new Set(a)
  for (const element of b) if (!hasElement(a, element)) all.add(element)
  return all
}

/** Undefined if nothing is left, since no set is empty. */
export function without(set: ElementSet, others: ElementSet): ElementSet | undefined {
  const left = new Set<Element>()
  for (const element of set) if (!hasElement(others, element)) left.add(element)
  return left.size === 0 ? undefined : left
}

/** Negative, zero or positive; undefined if the two have no order. */
export function compare(a: Value, b: Value): number | undefined {
  if (isNumeric(a)) return isNumeric(b) ? compareNumeric(a, b) : undefined
  if (typeof a === 'string') return typeof b === 'string' ? compareText(a, b) : undefined
  if (a instanceof Uint8Array && b instanceof Uint8Array) return Buffer.compare(a, b)
  return undefined
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

/** The result of size(); undefined for a value without a size. */
export function sizeOf(value: Value): number | undefined {
  if (typeof value === 'string') return value.length
  if (typeof value !== 'object' || value === null || value instanceof Decimal) return undefined
  if (Array.isArray(value) || value instanceof Uint8Array) return value.length
  if (isSet(value)) return value.size
  let count = 0
  for (const _ in value) count += 1
  return count
}

export function beginsWith(value: Value, prefix: Value): boolean {
  if (typeof value === 'string') return typeof prefix === 'string' && value.startsWith(prefix)
  if (!(value instanceof Uint8Array && prefix instanceof Uint8Array)) return false
  return bytesEqual(value.subarray(0, prefix.length), prefix)
}

/** True for a part of a text or of bytes, an element of a set, a member of a list. */
export function contains(value: Value, part: Value): boolean {
  if (typeof value === 'string') return typeof part === 'string' && value.includes(part)
  if (Array.isArray(value)) return value.some((member) => equals(member, part))
  if (isSet(value)) return isElement(part) && hasElement(value, part)
  if (!(value instanceof Uint8Array && part instanceof Uint8Array)) return false
  return Buffer.from(value.buffer, value.byteOffset, value.length).indexOf(part) >= 0
}

function isElement(value: Value): value is Element {
  return typeof value === 'string' || isNumeric(value) || value instanceof Uint8Array
}
