import { validationError } from './failures.ts'
import { attribute, bytesOf, type Item, valueIn } from './values.ts'

export type Schema = { readonly partitionKey: string; readonly sortKey?: string | undefined }
export type IndexSchema = Schema & { readonly name: string; readonly projection: 'all' | 'keys' }
export type TableSchema = Schema & {
  /** The attribute with the second since the epoch from which an item has expired. */
  readonly timeToLive?: string | undefined
  readonly indexes: readonly IndexSchema[]
}

type Keyed = { readonly schema: Schema }

/** Refuses a key that is given by itself, unless it has its attributes and no others. */
export function keyOnly(schema: Schema, given: Item = {}): Item {
  if (Object.keys(given).length !== keyNames(schema).length) {
    throw validationError('The number of conditions on the keys is invalid')
  }
  keyIn(schema, given)
  return given
}

export function keyIn({ partitionKey, sortKey }: Schema, item: Item) {
  return { partition: keyText(item, partitionKey), sort: sortKey ? keyText(item, sortKey) : '' }
}

function keyText(item: Item, name: string): string {
  const value = attribute(item, name)
  if (value === undefined) throw validationError('One of the required keys was not given a value')
  const { S } = valueIn(value)
  if (S === undefined) throw validationError('One or more parameter values were invalid: Type mismatch for key')
  if (S === '') throw validationError(`A key attribute cannot contain an empty string value. Key: ${name}`)
  return S
}

export function keyNames({ partitionKey, sortKey }: Schema): string[] {
  return sortKey ? [partitionKey, sortKey] : [partitionKey]
}

/** Refuses a key that is too long. Keys of stored items are not, so only writes are checked. */
export function checkKeyBytes(schema: Schema, item: Item): void {
  const { partition, sort } = keyIn(schema, item)
  if (Buffer.byteLength(partition) > 2_048 || Buffer.byteLength(sort) > 1_024) {
    throw validationError('One or more parameter values were invalid: Size of a key has exceeded its limit')
  }
}

export function checkIndexKeys({ indexes }: TableSchema, item: Item): void {
  for (const index of indexes) {
    for (const key of keyNames(index)) {
      const value = attribute(item, key)
      if (value && !value.S)
        throw validationError(`The Index Key ${key} must be a text that is not empty, IndexName: ${index.name}`)
    }
  }
}

/** Follows a place, and every place that begins with it. */
export const AFTER = '\xff'

/** The same in UTF-8, and without a zero. */
const PLAIN = /^[ -~]*$/

/** Texts that are in the order of the keys' UTF-8. Undefined if the item lacks a key of the index: then it is not in it. */
export function placeOf(source: Keyed, own: Keyed, item: Item): string | undefined {
  const { partitionKey, sortKey } = source.schema
  const partition = attribute(item, partitionKey)?.S
  const sort = sortKey ? attribute(item, sortKey)?.S : ''
  if (partition === undefined || sort === undefined) return undefined
  const place = `${inOrder(partition)}\0${inOrder(sort)}\0`
  return source === own ? place : place + placeOf(own, own, item)
}

/** The bytes of a text, without a zero that could be taken for its end. */
export function inOrder(text: string): string {
  return PLAIN.test(text) ? text : (bytesOf({ S: text }) as string).replaceAll('\0', `\0${AFTER}`)
}

export function placeInTables({ name, own }: { readonly name: string; readonly own: Keyed }, item: Item): string {
  return `${name}\0${placeOf(own, own, item)}`
}

export function refuseTwice(places: readonly string[], message: string): void {
  if (new Set(places).size < places.length) throw validationError(message)
}
