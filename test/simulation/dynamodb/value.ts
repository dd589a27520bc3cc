import { unsupported, validationError } from './failures.ts'
import { isNumeric, type Numeric, toNumeric } from './number.ts'

/** What is stored: never changed in place, so that versions of an item can share what they have in common. */
export type Value = string | Numeric | boolean | null | Uint8Array | BinarySet | readonly Value[] | Item
export type Item = { readonly [name: string]: Value }

/** No element twice, and never empty. The order of the elements means nothing. */
export type BinarySet = ReadonlySet<Uint8Array>

export type TypeName = 'S' | 'N' | 'B' | 'BS' | 'BOOL' | 'NULL' | 'L' | 'M'

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
  return isBinarySet(value) ? 'BS' : 'M'
}

export function isMap(value: Value | undefined): value is Item {
  return (
    typeof value === 'object' &&
    value !== null &&
    !Array.isArray(value) &&
    !ArrayBuffer.isView(value as Uint8Array) &&
    !isBinarySet(value)
  )
}

export function isBinarySet(value: Value | undefined): value is BinarySet {
  return value instanceof Set
}

export function attribute(item: Item, name: string): Value | undefined {
  return Object.hasOwn(item, name) ? item[name] : undefined
}

/** A value of a document command, copied; what is undefined inside is left out, as the SDK is told to. */
export function fromDocument(given: unknown): Value {
  if (typeof given === 'string' || typeof given === 'boolean' || given === null) return given
  if (isNumeric(given)) return toNumeric(given)
  if (Array.isArray(given)) return given.filter((member) => member !== undefined).map(fromDocument)
  if (ArrayBuffer.isView(given)) return bytesFromDocument(given)
  if (typeof given === 'object' && isPlain(given)) return itemFromDocument(given)
  if (isSet(given)) return setFromDocument(given)
  throw unsupported(`the type of ${String(given)}`)
}

function bytesFromDocument({ buffer, byteOffset, byteLength }: ArrayBufferView): Uint8Array {
  return new Uint8Array(buffer, byteOffset, byteLength).slice()
}

function setFromDocument(given: ReadonlySet<unknown>): BinarySet {
  const set = new Set<Uint8Array>()
  for (const element of given) {
    if (element === undefined) continue
    if (!ArrayBuffer.isView(element)) throw unsupported('sets of anything but bytes')
    const bytes = bytesFromDocument(element)
    if (hasElement(set, bytes)) throw validationError('Input collection of type BS contains duplicates')
    set.add(bytes)
  }
  // What the SDK itself refuses to send.
  if (set.size === 0) throw new Error('Pass a non-empty set, or options.convertEmptyValues=true.')
  return set
}

export function itemFromDocument(given: object): Item {
  const item: Record<string, Value> = {}
  for (const name in given) {
    const value = given[name as keyof typeof given] as unknown
    if (value !== undefined) item[name] = fromDocument(value)
  }
  return item
}

/** By name, as the SDK does it: an object may come from another realm. */
function isPlain(given: object): boolean {
  return !given.constructor || given.constructor.name === 'Object'
}

function isSet(given: unknown): given is ReadonlySet<unknown> {
  return given?.constructor?.name === 'Set'
}

export function copyOf(value: Value): Value {
  if (typeof value !== 'object' || value === null) return value
  if (Array.isArray(value)) return value.map(copyOf)
  if (value instanceof Uint8Array) return value.slice()
  return isBinarySet(value) ? copyOfSet(value) : copyOfItem(value as Item)
}

function copyOfSet(set: BinarySet): BinarySet {
  const copy = new Set<Uint8Array>()
  for (const element of set) copy.add(element.slice())
  return copy
}

export function copyOfItem(item: Item): Item {
  if (Object.getPrototypeOf(item) === null) return copyOfDictionary(item)
  const copy: Record<string, Value> = { ...item }
  for (const name in copy) {
    const value = copy[name] as Value
    if (typeof value === 'object' && value !== null) copy[name] = copyOf(value)
  }
  return copy
}

function copyOfDictionary(map: Item): Item {
  const copy: Record<string, Value> = Object.create(null)
  for (const name in map) copy[name] = copyOf(map[name] as Value)
  return copy
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
  if (type === 'BS') return setsEqual(a as BinarySet, b as BinarySet)
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

function setsEqual(a: BinarySet, b: BinarySet): boolean {
  return a.size === b.size && !without(a, b)
}

function hasElement(set: BinarySet, bytes: Uint8Array): boolean {
  for (const element of set) if (bytesEqual(element, bytes)) return true
  return false
}

export function union(a: BinarySet, b: BinarySet): BinarySet {
  const all = new Set(a)
  for (const element of b) if (!hasElement(a, element)) all.add(element)
  return all
}

/** Undefined if nothing is left, since no set is empty. */
export function without(set: BinarySet, others: BinarySet): BinarySet | undefined {
  const left = new Set<Uint8Array>()
  for (const element of set) if (!hasElement(others, element)) left.add(element)
  return left.size === 0 ? undefined : left
}

/** Negative, zero or positive; undefined if the two have no order. */
export function compare(a: Value, b: Value): number | undefined {
  if (isNumeric(a)) return isNumeric(b) ? (a < b ? -1 : a > b ? 1 : 0) : undefined
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

/** What size() gives; undefined for what has none. */
export function sizeOf(value: Value): number | undefined {
  if (typeof value === 'string') return value.length
  if (typeof value !== 'object' || value === null) return undefined
  if (Array.isArray(value) || value instanceof Uint8Array) return value.length
  if (isBinarySet(value)) return value.size
  let count = 0
  for (const _ in value) count += 1
  return count
}

export function beginsWith(value: Value, prefix: Value): boolean {
  if (typeof value === 'string') return typeof prefix === 'string' && value.startsWith(prefix)
  if (!(value instanceof Uint8Array && prefix instanceof Uint8Array)) return false
  return bytesEqual(value.subarray(0, prefix.length), prefix)
}

/** A part of a text or of bytes, an element of a set, a member of a list. */
export function contains(value: Value, part: Value): boolean {
  if (typeof value === 'string') return typeof part === 'string' && value.includes(part)
  if (Array.isArray(value)) return value.some((member) => equals(member, part))
  if (!(part instanceof Uint8Array)) return false
  if (value instanceof Uint8Array) return Buffer.from(value.buffer, value.byteOffset, value.length).indexOf(part) >= 0
  return isBinarySet(value) && hasElement(value, part)
}
