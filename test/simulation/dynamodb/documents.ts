import type { Members } from '../../../local/dynamodb/members.ts'
import type { Item, Value } from '../../../local/dynamodb/values.ts'

// Values between the document client, which has JS's own types, and the engine, which has DynamoDB's JSON.

export type Document = Readonly<Record<string, unknown>>

const ITEMS = new Set([
  'Item',
  'Key',
  'Attributes',
  'LastEvaluatedKey',
  'ExclusiveStartKey',
  'ExpressionAttributeValues',
])
const LISTS_OF_ITEMS = new Set(['Items', 'Keys'])

/** A command or an answer with every key, item and map of values in it converted. */
export function convertItems<From>(members: Members, convert: (item: From) => unknown): Record<string, unknown> {
  const converted: Record<string, unknown> = {}
  for (const name in members) {
    const value = members[name]
    if (value === undefined) continue
    if (typeof value !== 'object' || value === null || name === 'ExpressionAttributeNames') converted[name] = value
    else if (ITEMS.has(name)) converted[name] = convert(value as From)
    else if (LISTS_OF_ITEMS.has(name)) converted[name] = (value as From[]).map(convert)
    else if (name === 'Responses') converted[name] = byTable(value, (items: From[]) => items.map(convert))
    else if (name === 'RequestItems') converted[name] = byTable(value, (asked: Members) => convertItems(asked, convert))
    else if (Array.isArray(value)) converted[name] = value.map((one: Members) => convertItems(one, convert))
    else converted[name] = convertItems(value as Members, convert)
  }
  return converted
}

/** Names of tables stand in place of members. */
function byTable<OfTable>(value: object, convert: (ofTable: OfTable) => unknown): unknown {
  return Object.fromEntries(Object.entries(value).map(([table, ofTable]) => [table, convert(ofTable)]))
}

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
  if (typeof given === 'string') return { S: given }
  if (typeof given === 'boolean') return { BOOL: given }
  if (given === null) return { NULL: true }
  if (typeof given === 'number' || typeof given === 'bigint') return { N: digitsOf(given) }
  if (Array.isArray(given)) return { L: given.filter((member) => member !== undefined).map(fromDocument) }
  if (ArrayBuffer.isView(given)) return { B: toBase64(given) }
  if (typeof given === 'object' && isPlain(given)) return { M: itemFromDocument(given) }
  if (given?.constructor?.name === 'Set') return { BS: elementsOf(given as ReadonlySet<ArrayBufferView | undefined>) }
  throw new Error(`The simulator has no type for ${String(given)}.`)
}

function digitsOf(given: number | bigint): string {
  // The SDK itself refuses to send these.
  if (typeof given === 'number' && !Number.isFinite(given)) {
    throw new Error(`Special numeric value ${given} is not allowed`)
  }
  if (typeof given === 'number' && Math.abs(given) > Number.MAX_SAFE_INTEGER) {
    throw new Error(`Number ${given} is not a safe integer.`)
  }
  return String(given)
}

function toBase64({ buffer, byteOffset, byteLength }: ArrayBufferView): string {
  return Buffer.from(buffer, byteOffset, byteLength).toString('base64')
}

function elementsOf(given: ReadonlySet<ArrayBufferView | undefined>): string[] {
  const elements = [...given].filter((element) => element !== undefined).map(toBase64)
  // The SDK itself refuses to send this.
  if (elements.length === 0) throw new Error('Pass a non-empty set, or options.convertEmptyValues=true.')
  return elements
}

/** Compares names, as the SDK does: an object may come from another realm. */
function isPlain(given: object): boolean {
  return !given.constructor || given.constructor.name === 'Object'
}

export function toDocument(item: Item): Document {
  const document: Record<string, unknown> = {}
  for (const name in item) document[name] = valueToDocument(item[name] as Value)
  return document
}

function valueToDocument(value: Value): unknown {
  if (value.S !== undefined) return value.S
  const { N, B, BS, BOOL, L, M } = value
  if (N !== undefined) return Number.isSafeInteger(Number(N)) ? Number(N) : BigInt(N)
  if (B !== undefined) return bytesIn(B)
  if (BS) return new Set(BS.map(bytesIn))
  if (L) return L.map(valueToDocument)
  return M ? toDocument(M) : (BOOL ?? null)
}

function bytesIn(base64: string): Uint8Array {
  return new Uint8Array(Buffer.from(base64, 'base64'))
}
