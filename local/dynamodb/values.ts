import { isDeepStrictEqual } from 'node:util'
import { unsupported, validationError } from './failures.ts'

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

const READERS: Readonly<Record<string, (given: unknown, depth: number) => Value>> = {
  S: (given) => ({ S: textIn(given) }),
  N: (given) => ({ N: integerIn(textIn(given)) }),
  B: (given) => ({ B: bytesIn(given) }),
  BS: (given) => ({ BS: setIn(listIn(given).map(bytesIn)) }),
  BOOL: (given) => ({ BOOL: typeof given === 'boolean' ? given : refuse() }),
  NULL: () => ({ NULL: true }),
  M: (given, depth) => ({ M: itemIn(given, depth + 1) }),
  L: (given, depth) => ({ L: listIn(given).map((member) => valueIn(member, depth + 1)) }),
}

/** The item in a request, with each value in its one form. */
export function itemIn(given: unknown, depth = 0): Item {
  if (!isObject(given)) return refuse()
  const item: Record<string, Value> = {}
  for (const name in given) {
    if (name === '__proto__') throw unsupported('an attribute __proto__')
    item[name] = valueIn(given[name], depth)
  }
  return item
}

export function valueIn(given: unknown, depth = 0): Value {
  if (!isObject(given)) return refuse()
  const types = Object.keys(given)
  const type = String(types[0])
  if (types.length !== 1) {
    throw validationError('Supplied AttributeValue must contain exactly one of the supported datatypes')
  }
  if (!Object.hasOwn(READERS, type)) throw unsupported(`the type ${type}`)
  if (depth > 32) throw validationError('Nesting Levels have exceeded supported limits')
  return (READERS[type] as (given: unknown, depth: number) => Value)(given[type], depth)
}

function setIn(elements: readonly string[]): readonly string[] {
  if (elements.length === 0) throw validationError('One or more parameter values were invalid: A set may not be empty')
  const set = setOf(elements)
  if (set.length === elements.length) return set
  throw validationError('One or more parameter values were invalid: Input collection contains duplicates')
}

function setOf(elements: Iterable<string>): readonly string[] {
  return [...new Set(elements)].sort()
}

function textIn(given: unknown): string {
  return typeof given === 'string' ? given : refuse()
}

function listIn(given: unknown): readonly unknown[] {
  return Array.isArray(given) ? given : refuse()
}

function bytesIn(given: unknown): string {
  return Buffer.from(textIn(given), 'base64').toString('base64')
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

function refuse(): never {
  throw new TypeError('A value has not the JSON type that its name says')
}

const SHORT_INTEGER = /^-?\d{1,15}$/

function integerIn(text: string): string {
  if (SHORT_INTEGER.test(text)) return String(Number(text))
  if (/^-?\d+$/.test(text)) return exact(BigInt(text))
  if (text.trim() !== '' && Number.isFinite(Number(text))) throw unsupported('numbers that are no integers')
  throw validationError(`The parameter cannot be converted to a numeric value: ${text.slice(0, 60)}`)
}

function exact(integer: bigint): string {
  const text = String(integer)
  if (significantDigits(text) <= 38) return text
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
function equals(a: Found, b: Found): boolean {
  if (!a || !b || a.S !== b.S || a.N !== b.N) return false
  return a.S !== undefined || a.N !== undefined || isDeepStrictEqual(a, b)
}

/** The bytes of a text or of bytes, each as one character. */
export function bytesOf(value: Found): string | undefined {
  if (value?.S !== undefined) return Buffer.from(value.S).toString('latin1')
  return value?.B === undefined ? undefined : Buffer.from(value.B, 'base64').toString('latin1')
}

/** In the order of the values of one type, if they have one. */
function orderOf(value: Found): number | bigint | string | undefined {
  const digits = value?.N
  return digits === undefined ? bytesOf(value) : SHORT_INTEGER.test(digits) ? Number(digits) : BigInt(digits)
}

/** Negative, zero or positive; NaN, for which no comparison holds, if the two have no order. */
export function compare(a: Found, b: Found): number {
  const [left, right] = a && b && typeOf(a) === typeOf(b) ? [orderOf(a), orderOf(b)] : []
  if (left === undefined || right === undefined) return Number.NaN
  return left < right ? -1 : Number(left > right)
}

export function sizeOf(value: Found): Found {
  const { S, B, BS, L, M } = value ?? {}
  const counted = S ?? BS ?? L ?? (M && Object.keys(M))
  if (counted !== undefined) return { N: String(counted.length) }
  return B === undefined ? undefined : { N: String(Buffer.byteLength(B, 'base64')) }
}

/** True for a part of a text or of bytes, an element of a set, a member of a list. */
function contains(value: Found, part: Found): boolean {
  if (value?.L) return value.L.some((member) => equals(member, part))
  if (value?.BS) return part?.B !== undefined && value.BS.includes(part.B)
  const wanted = value && part && typeOf(value) === typeOf(part) ? bytesOf(part) : undefined
  return wanted !== undefined && bytesOf(value)?.includes(wanted) === true
}

export const TESTS = {
  attribute_exists: (value: Found) => value !== undefined,
  attribute_not_exists: (value: Found) => value === undefined,
  '=': equals,
  '<>': (a: Found, b: Found) => !equals(a, b),
  '<': (a: Found, b: Found) => compare(a, b) < 0,
  '<=': (a: Found, b: Found) => compare(a, b) <= 0,
  '>': (a: Found, b: Found) => compare(a, b) > 0,
  '>=': (a: Found, b: Found) => compare(a, b) >= 0,
  BETWEEN: (value: Found, low: Found, high: Found) => compare(value, low) >= 0 && compare(value, high) <= 0,
  IN: (value: Found, ...options: Found[]) => options.some((option) => equals(value, option)),
  contains,
}

/** The results of ADD and DELETE, which leaves no empty set. */
export const COMBINED = {
  ADD: (old: Found, given: Value): Value => {
    if (!old) return given
    return given.BS ? { BS: setOf([...memberOf(old, 'BS'), ...given.BS]) } : sum(old, given)
  },
  DELETE: (old: Found, { BS: gone = [] }: Value): Found => {
    const left = old ? memberOf(old, 'BS').filter((element) => !gone.includes(element)) : []
    return left.length > 0 ? { BS: left } : undefined
  },
}

function memberOf<Type extends 'N' | 'BS'>(value: Found, type: Type): NonNullable<Value[Type]> {
  const member = value?.[type]
  if (member !== undefined) return member as NonNullable<Value[Type]>
  throw validationError('An operand in the update expression has an incorrect data type')
}

export function sum(left: Found, right: Found, sign: 1 | -1 = 1): Value {
  const [a, b] = [memberOf(left, 'N'), memberOf(right, 'N')]
  const isShort = SHORT_INTEGER.test(a) && SHORT_INTEGER.test(b)
  return { N: isShort ? String(Number(a) + sign * Number(b)) : exact(BigInt(a) + BigInt(sign) * BigInt(b)) }
}

// The size of an item by the Amazon DynamoDB Developer Guide: "DynamoDB item sizes and formats" (CapacityUnitCalculations).

export function ofAllowedSize(item: Item, what: string): Item {
  if (itemBytes(item) <= 400 * 1024) return item
  throw validationError(`${what} has exceeded the maximum allowed size`)
}

/** "The total size of an item is the sum of the lengths of its attribute names and values." */
export function itemBytes(item: Item): number {
  let bytes = 0
  for (const name in item) bytes += Buffer.byteLength(name) + valueBytes(item[name] as Value)
  return bytes
}

function valueBytes(value: Value): number {
  if (value.S !== undefined) return Buffer.byteLength(value.S)
  const { N, B, BS, L, M } = value
  // "Approximately 1 byte per two significant digits, and 1 byte"; zeroes at either end do not count, a minus does.
  if (N !== undefined) return Math.ceil(significantDigits(N) / 2) + 1 + (N.startsWith('-') ? 1 : 0)
  if (B !== undefined) return Buffer.byteLength(B, 'base64')
  if (BS) return BS.reduce((total, element) => total + Buffer.byteLength(element, 'base64'), 0)
  // "An attribute of type List or Map requires 3 bytes of overhead", and "each List or Map element also 1 byte".
  if (L) return L.reduce((total, member) => total + valueBytes(member) + 1, 3)
  return M ? 3 + itemBytes(M) + Object.keys(M).length : 1
}
