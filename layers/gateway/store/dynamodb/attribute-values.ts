import type { Item, QueryInput } from './database.ts'

/** A value in DynamoDB's JSON: one field, named for its type. */
export type AttributeValue = Readonly<Record<string, unknown>>
export type Attributes = Readonly<Record<string, AttributeValue>>

/** An item as DynamoDB's JSON. Fields that are undefined are left out. */
export function writeAttributes(item: Item): string {
  let text = ''
  for (const name in item) {
    const value = item[name]
    if (value !== undefined) text += `${text === '' ? '{' : ','}${quotedName(name)}:${writeAttribute(value)}`
  }
  return text === '' ? '{}' : `${text}}`
}

export function fromAttributes(attributes: Attributes): Item {
  const item: Item = {}
  for (const name in attributes) item[name] = fromAttribute(attributes[name] as AttributeValue)
  return item
}

function writeAttribute(value: unknown): string {
  if (typeof value === 'string') return `{"S":${quoted(value)}}`
  if (typeof value === 'number') return `{"N":"${digitsOf(value)}"}`
  if (typeof value === 'bigint') return `{"N":"${value}"}`
  if (typeof value === 'boolean') return value ? '{"BOOL":true}' : '{"BOOL":false}'
  if (typeof value === 'object') return writeObject(value)
  throw new TypeError(`DynamoDB has no type for a ${typeof value}.`)
}

function writeObject(value: object | null): string {
  if (value === null) return '{"NULL":true}'
  if (Array.isArray(value)) {
    const members = value.filter((member) => member !== undefined)
    return `{"L":[${members.map(writeAttribute).join(',')}]}`
  }
  if (value instanceof Uint8Array) return `{"B":"${toBase64(value)}"}`
  if (value instanceof Set) return `{"BS":[${writeSet(value)}]}`
  const prototype: unknown = Object.getPrototypeOf(value)
  if (prototype === null || (prototype as object).constructor.name === 'Object')
    return `{"M":${writeAttributes(value as Item)}}`
  throw new TypeError(`DynamoDB has no type for a ${(prototype as object).constructor.name}.`)
}

function writeSet(set: ReadonlySet<unknown>): string {
  if (set.size === 0) throw new RangeError('DynamoDB has no empty set.')
  let text = ''
  for (const element of set) {
    if (!(element instanceof Uint8Array)) {
      throw new TypeError(`Nobody here writes a set of any type but bytes, such as a ${typeof element}.`)
    }
    text += `${text === '' ? '' : ','}"${toBase64(element)}"`
  }
  return text
}

/** Characters that JSON does not escape: printable ASCII without quotes and backslashes. */
const PLAIN = /^[\x20\x21\x23-\x5b\x5d-\x7e]*$/

/** Most texts here are short and plain. */
export function quoted(text: string): string {
  return PLAIN.test(text) ? `"${text}"` : JSON.stringify(text)
}

const MOST_NAMES = 256
const NAMES = new Map<string, string>()

function quotedName(name: string): string {
  const known = NAMES.get(name)
  if (known !== undefined) return known
  const made = quoted(name)
  if (NAMES.size < MOST_NAMES) NAMES.set(name, made)
  return made
}

/** A number beyond 2^53 may have been rounded; such numbers are bigints. */
function digitsOf(value: number): string {
  if (!Number.isFinite(value) || Math.abs(value) > Number.MAX_SAFE_INTEGER) {
    throw new RangeError(`${value} is no number that DynamoDB keeps exactly.`)
  }
  return String(value)
}

function fromAttribute(attribute: AttributeValue): unknown {
  for (const type in attribute) {
    const value = attribute[type]
    if (type === 'S' || type === 'BOOL') return value
    if (type === 'N') return fromNumber(value as string)
    if (type === 'M') return fromAttributes(value as Attributes)
    if (type === 'L') return (value as AttributeValue[]).map(fromAttribute)
    if (type === 'NULL') return null
    if (type === 'B') return fromBase64(value as string)
    if (type === 'BS') return new Set((value as string[]).map(fromBase64))
  }
  throw new TypeError(`An attribute has a type that nobody here writes: ${Object.keys(attribute)}.`)
}

/** DynamoDB's numbers are exact; a whole one beyond 2^53 is a bigint. */
function fromNumber(digits: string): number | bigint {
  const value = Number(digits)
  return Math.abs(value) > Number.MAX_SAFE_INTEGER ? BigInt(digits) : value
}

function toBase64({ buffer, byteOffset, byteLength }: Uint8Array): string {
  return Buffer.from(buffer, byteOffset, byteLength).toString('base64')
}

function fromBase64(text: string): Uint8Array {
  const { buffer, byteOffset, length } = Buffer.from(text, 'base64')
  return new Uint8Array(buffer, byteOffset, length)
}

export type Input = { readonly Key?: Item; readonly Item?: Item } & Pick<
  QueryInput,
  'ExpressionAttributeValues' | 'ExclusiveStartKey'
>
const IN_ATTRIBUTES: ReadonlySet<string> = new Set(['Key', 'Item', 'ExpressionAttributeValues', 'ExclusiveStartKey'])

export function writeInput(input: Input): string {
  const members = input as Readonly<Record<string, unknown>>
  let text = ''
  for (const name in members) {
    const value = members[name]
    if (value === undefined) continue
    text += `${text === '' ? '{' : ','}"${name}":${writeMember(name, value)}`
  }
  return `${text}}`
}

function writeMember(name: string, value: unknown): string {
  if (typeof value === 'string') return quoted(value)
  return IN_ATTRIBUTES.has(name) ? writeAttributes(value as Item) : JSON.stringify(value)
}
