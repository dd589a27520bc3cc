import { DynamoDbError, unsupported, validationError } from './failures.ts'
import { isNumeric, parseNumeric } from './number.ts'
import { hasElement, type Item, isSet, type Value } from './value.ts'

export type AttributeValue = Readonly<Record<string, unknown>>
export type Attributes = Readonly<Record<string, AttributeValue>>

const DEEPEST = 32

export function fromAttributes(attributes: Attributes, depth = 0): Item {
  if (!isObject(attributes)) throw serializationError()
  const item: Record<string, Value> = {}
  for (const name in attributes) {
    if (name === '__proto__') throw validationError('The local database does not support an attribute __proto__')
    item[name] = fromAttribute(attributes[name] as AttributeValue, depth)
  }
  return item
}

const READERS: Readonly<Record<string, (given: unknown, depth: number) => Value>> = {
  S: textOf,
  N: (given) => parseNumeric(textOf(given)),
  B: bytesOf,
  BOOL: (given) => {
    if (typeof given !== 'boolean') throw serializationError()
    return given
  },
  NULL: (given) => {
    if (given !== true) throw validationError('Null attribute value types must have the value of true')
    return null
  },
  M: (given, depth) => fromAttributes(given as Attributes, depth + 1),
  L: (given, depth) => listOf(given).map((member) => fromAttribute(member as AttributeValue, depth + 1)),
  SS: noSet,
  NS: noSet,
  BS: (given) => setOf(listOf(given).map(bytesOf)),
}

function fromAttribute(attribute: AttributeValue, depth: number): Value {
  if (!isObject(attribute)) throw serializationError()
  const [type = '', ...others] = Object.keys(attribute)
  if (others.length > 0 || !Object.hasOwn(READERS, type)) {
    const fault = others.length > 0 ? 'has more than one datatypes set' : 'is empty'
    throw validationError(`Supplied AttributeValue ${fault}, must contain exactly one of the supported datatypes`)
  }
  if (depth > DEEPEST) throw validationError('Nesting Levels have exceeded supported limits')
  return (READERS[type] as (given: unknown, depth: number) => Value)(attribute[type], depth)
}

function noSet(): never {
  throw unsupported('sets of texts or numbers')
}

function setOf(elements: readonly Uint8Array[]): Value {
  if (elements.length === 0) throw validationError('One or more parameter values were invalid: A set may not be empty')
  const set = new Set<Uint8Array>()
  for (const element of elements) {
    if (hasElement(set, element)) {
      throw validationError('One or more parameter values were invalid: Input collection contains duplicates')
    }
    set.add(element)
  }
  return set
}

function textOf(given: unknown): string {
  if (typeof given !== 'string') throw serializationError()
  return given
}

function listOf(given: unknown): readonly unknown[] {
  if (!Array.isArray(given)) throw serializationError()
  return given
}

function bytesOf(given: unknown): Uint8Array {
  return new Uint8Array(Buffer.from(textOf(given), 'base64'))
}

function isObject(value: unknown): boolean {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

function serializationError(): DynamoDbError {
  return new DynamoDbError('SerializationException', 'A value has not the JSON type that its name says')
}

export function toAttributes(item: Item): Attributes {
  const attributes: Record<string, AttributeValue> = {}
  for (const name in item) attributes[name] = toAttribute(item[name] as Value)
  return attributes
}

function toAttribute(value: Value): AttributeValue {
  if (typeof value === 'string') return { S: value }
  if (isNumeric(value)) return { N: String(value) }
  if (typeof value === 'boolean') return { BOOL: value }
  if (value === null) return { NULL: true }
  if (Array.isArray(value)) return { L: value.map(toAttribute) }
  if (value instanceof Uint8Array) return { B: toBase64(value) }
  if (isSet(value)) return { BS: Array.from(value, toBase64) }
  return { M: toAttributes(value as Item) }
}

function toBase64({ buffer, byteOffset, byteLength }: Uint8Array): string {
  return Buffer.from(buffer, byteOffset, byteLength).toString('base64')
}
