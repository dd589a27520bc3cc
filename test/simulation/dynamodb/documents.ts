import { validationError } from '../../../local/dynamodb/failures.ts'
import { type Numeric, parseNumeric } from '../../../local/dynamodb/number.ts'
import { hasElement, type Item, isSet, type Value } from '../../../local/dynamodb/value.ts'

// Values between the document client, which has JS's own types, and the engine. Both ways everything is copied.

/** Fields that are undefined are left out, as the SDK is told to. */
export function itemFromDocument(given: object): Item {
  const item: Record<string, Value> = {}
  for (const name in given) {
    const value = given[name as keyof typeof given] as unknown
    if (value !== undefined) item[name] = fromDocument(value)
  }
  return item
}

function fromDocument(given: unknown): Value {
  if (typeof given === 'string' || typeof given === 'boolean' || given === null) return given
  if (typeof given === 'number' || typeof given === 'bigint') return numericFromDocument(given)
  if (Array.isArray(given)) return given.filter((member) => member !== undefined).map(fromDocument)
  if (ArrayBuffer.isView(given)) return bytesFromDocument(given)
  if (typeof given === 'object' && isPlain(given)) return itemFromDocument(given)
  if (given?.constructor?.name === 'Set') return setFromDocument(given as ReadonlySet<unknown>)
  throw new Error(`The simulator has no type for ${String(given)}.`)
}

function numericFromDocument(given: number | bigint): Numeric {
  if (typeof given === 'bigint') return parseNumeric(String(given))
  if (Number.isSafeInteger(given)) return given + 0
  // The SDK itself refuses to send this.
  if (!Number.isFinite(given)) throw new Error(`Special numeric value ${given} is not allowed`)
  if (Math.abs(given) > Number.MAX_SAFE_INTEGER) throw new Error(`Number ${given} is not a safe integer.`)
  return parseNumeric(String(given))
}

function bytesFromDocument({ buffer, byteOffset, byteLength }: ArrayBufferView): Uint8Array {
  return new Uint8Array(buffer, byteOffset, byteLength).slice()
}

function setFromDocument(given: ReadonlySet<unknown>): Value {
  const set = new Set<Uint8Array>()
  for (const one of given) {
    if (one === undefined) continue
    const element = bytesFromDocument(one as Uint8Array)
    if (hasElement(set, element)) throw validationError('Input collection contains duplicates')
    set.add(element)
  }
  // The SDK itself refuses to send this.
  if (set.size === 0) throw new Error('Pass a non-empty set, or options.convertEmptyValues=true.')
  return set
}

/** Compares names, as the SDK does: an object may come from another realm. */
function isPlain(given: object): boolean {
  return !given.constructor || given.constructor.name === 'Object'
}

export function toDocument(item: Item): Item {
  if (Object.getPrototypeOf(item) === null) return copyOfDictionary(item)
  const copy: Record<string, Value> = { ...item }
  for (const name in copy) {
    const value = copy[name] as Value
    if (typeof value === 'object' && value !== null) copy[name] = valueToDocument(value)
  }
  return copy
}

function copyOfDictionary(map: Item): Item {
  const copy: Record<string, Value> = Object.create(null)
  for (const name in map) copy[name] = valueToDocument(map[name] as Value)
  return copy
}

function valueToDocument(value: Value): Value {
  if (typeof value !== 'object' || value === null) return value
  if (Array.isArray(value)) return value.map(valueToDocument)
  if (value instanceof Uint8Array) return value.slice()
  if (isSet(value)) return new Set(Array.from(value, (element) => element.slice()))
  return toDocument(value as Item)
}
