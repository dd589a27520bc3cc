import { isDeepStrictEqual } from 'node:util'
import { DynamoDbError, unsupported, validationError } from './failures.ts'

/** A value in DynamoDB's own JSON, which has one member. Never changed in place, so that versions of an item can share their parts. */
export type Value = {
  readonly S?: string
  /** An integer of up to 38 digits; equal ones are the same text. */
  readonly N?: string
  /** Base64; equal bytes are the same text. */
  readonly B?: string
  /** Never empty, none twice, and sorted, though their order has no meaning. */
  readonly BS?: readonly string[]
  readonly BOOL?: boolean
  readonly NULL?: true
  readonly L?: readonly Value[]
  readonly M?: Item
}
export type Item = Readonly<Record<string, Value>>
export type TypeName = keyof Value

/** Undefined for what does not exist, which is no error. */
export type Found = Value | undefined

const DEEPEST = 32

const READERS: Readonly<Record<string, (given: unknown, depth: number) => Value>> = {
  S: (given) => ({ S: textIn(given) }),
  N: (given) => ({ N: integerIn(textIn(given)) }),
  B: (given) => ({ B: bytesIn(given) }),
  BS: (given) => ({ BS: setIn(listIn(given).map(bytesIn)) }),
  BOOL: (given) => {
    if (typeof given !== 'boolean') throw serializationError()
    return { BOOL: given }
  },
  NULL: (given) => {
    if (given !== true) throw validationError('Null attribute value types must have the value of true')
    return { NULL: given }
  },
  M: (given, depth) => ({ M: itemIn(given, depth + 1) }),
  L: (given, depth) => ({ L: listIn(given).map((member) => valueIn(member, depth + 1)) }),
  SS: noSet,
  NS: noSet,
}

/** The item in a request, with each value in its one form. */
export function itemIn(given: unknown, depth = 0): Item {
  if (!isObject(given)) throw serializationError()
  const item: Record<string, Value> = {}
  for (const name in given) {
    if (name === '__proto__') throw unsupported('an attribute __proto__')
    item[name] = valueIn(given[name], depth)
  }
  return item
}

export function valueIn(given: unknown, depth = 0): Value {
  if (!isObject(given)) throw serializationError()
  const [type = '', ...others] = Object.keys(given)
  if (others.length > 0 || !Object.hasOwn(READERS, type)) {
    const fault = others.length > 0 ? 'has more than one datatypes set' : 'is empty'
    throw validationError(`Supplied AttributeValue ${fault}, must contain exactly one of the supported datatypes`)
  }
  if (depth > DEEPEST) throw validationError('Nesting Levels have exceeded supported limits')
  return (READERS[type] as (given: unknown, depth: number) => Value)(given[type], depth)
}

function noSet(): never {
  throw unsupported('sets of texts or numbers')
}

function setIn(elements: readonly string[]): readonly string[] {
  if (elements.length === 0) throw validationError('One or more parameter values were invalid: A set may not be empty')
  const set = setOf(elements)
  if (set.length === elements.length) return set
  throw validationError('One or more parameter values were invalid: Input collection contains duplicates')
}

export function setOf(elements: Iterable<string>): readonly string[] {
  return [...new Set(elements)].sort()
}

function textIn(given: unknown): string {
  if (typeof given !== 'string') throw serializationError()
  return given
}

function listIn(given: unknown): readonly unknown[] {
  if (!Array.isArray(given)) throw serializationError()
  return given
}

function bytesIn(given: unknown): string {
  return Buffer.from(textIn(given), 'base64').toString('base64')
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

function serializationError(): DynamoDbError {
  return new DynamoDbError('SerializationException', 'A value has not the JSON type that its name says')
}

const MOST_DIGITS = 38
const SHORT_INTEGER = /^-?\d{1,15}$/
const INTEGER = /^-?\d+$/

function integerIn(text: string): string {
  if (SHORT_INTEGER.test(text)) return String(Number(text))
  if (INTEGER.test(text)) return exact(BigInt(text))
  if (text.trim() !== '' && Number.isFinite(Number(text))) throw unsupported('numbers that are no integers')
  throw validationError(`The parameter cannot be converted to a numeric value: ${text.slice(0, 60)}`)
}

/** The sum of two integers, or their difference. */
export function sum(a: string, b: string, sign: 1 | -1): string {
  if (SHORT_INTEGER.test(a) && SHORT_INTEGER.test(b)) return String(Number(a) + sign * Number(b))
  return exact(BigInt(a) + BigInt(sign) * BigInt(b))
}

function exact(integer: bigint): string {
  const text = String(integer)
  if (significantDigits(text) <= MOST_DIGITS) return text
  throw validationError('Attempting to store more than 38 significant digits in a Number')
}

/** Without zeroes at either end. */
function significantDigits(integer: string): number {
  return integer.replace(/^-?0*|0+$/g, '').length
}

export function typeOf(value: Value): TypeName {
  return Object.keys(value)[0] as TypeName
}

export function attribute(item: Item, name: string): Found {
  return Object.hasOwn(item, name) ? item[name] : undefined
}

export function pick(item: Item, names: readonly string[]): Item {
  const there = names.filter((name) => attribute(item, name) !== undefined)
  return Object.fromEntries(there.map((name) => [name, item[name] as Value]))
}

/** A missing attribute equals nothing. */
export function equals(a: Found, b: Found): boolean {
  return a !== undefined && isDeepStrictEqual(a, b)
}

/** The bytes of a text or of bytes, each as one character. */
export function bytesOf(value: Found): string | undefined {
  if (value?.S !== undefined) return Buffer.from(value.S).toString('latin1')
  return value?.B === undefined ? undefined : Buffer.from(value.B, 'base64').toString('latin1')
}

/** Both as bytes, or undefined if they are not both texts or both bytes. */
function bothBytes(a: Found, b: Found): readonly [string, string] | undefined {
  const [left, right] = [bytesOf(a), bytesOf(b)]
  const isSameType = (a?.S === undefined) === (b?.S === undefined)
  return left !== undefined && right !== undefined && isSameType ? [left, right] : undefined
}

/** Negative, zero or positive; NaN, for which no comparison holds, if the two have no order. */
export function compare(a: Found, b: Found): number {
  const isInteger = a?.N !== undefined && b?.N !== undefined
  const both = isInteger ? ([BigInt(a.N), BigInt(b.N)] as const) : bothBytes(a, b)
  if (!both) return Number.NaN
  return both[0] < both[1] ? -1 : Number(both[0] > both[1])
}

export function sizeOf(value: Found): Found {
  const { S, B, BS, L, M } = value ?? {}
  const counted = S ?? BS ?? L ?? (M && Object.keys(M))
  if (counted !== undefined) return { N: String(counted.length) }
  return B === undefined ? undefined : { N: String(Buffer.byteLength(B, 'base64')) }
}

export function beginsWith(value: Found, prefix: Found): boolean {
  const both = bothBytes(value, prefix)
  return both?.[0].startsWith(both[1]) === true
}

/** True for a part of a text or of bytes, an element of a set, a member of a list. */
export function contains(value: Found, part: Found): boolean {
  if (value?.L) return value.L.some((member) => equals(member, part))
  if (value?.BS) return part?.B !== undefined && value.BS.includes(part.B)
  const both = bothBytes(value, part)
  return both?.[0].includes(both[1]) === true
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

function valueBytes({ S, N, B, BS, L, M }: Value): number {
  if (S !== undefined) return Buffer.byteLength(S)
  // "Approximately 1 byte per two significant digits, and 1 byte"; zeroes at either end do not count, a minus does.
  if (N !== undefined) return Math.ceil(significantDigits(N) / 2) + 1 + (N.startsWith('-') ? 1 : 0)
  if (B !== undefined) return Buffer.byteLength(B, 'base64')
  if (BS) return BS.reduce((total, element) => total + Buffer.byteLength(element, 'base64'), 0)
  // "An attribute of type List or Map requires 3 bytes of overhead", and "each List or Map element also 1 byte".
  if (L) return L.reduce((total, member) => total + valueBytes(member) + 1, 3)
  return M ? 3 + itemBytes(M) + Object.keys(M).length : 1
}
