import { validationError } from './failures.ts'
import { attribute, bytesOf, type Item } from './values.ts'

export type Schema = { readonly partitionKey: string; readonly sortKey?: string | undefined }
export type IndexSchema = Schema & { readonly name: string; readonly projection: 'all' | 'keys' }
export type TableSchema = Schema & {
  /** The attribute with the second since the epoch from which an item has expired. */
  readonly timeToLive?: string | undefined
  readonly indexes: readonly IndexSchema[]
}

export type Key = ReturnType<typeof keyIn>

/** A key that is given by itself: its attributes and no others. */
export function keyOnly(schema: Schema, given: Item = {}): Key {
  if (Object.keys(given).length !== keyNames(schema).length) {
    throw validationError('The number of conditions on the keys is invalid')
  }
  return keyIn(schema, given)
}

/** Places are in the order of the keys' UTF-8. */
export function keyIn({ partitionKey, sortKey }: Schema, item: Item) {
  const [partition, sort] = [keyText(item, partitionKey), sortKey ? keyText(item, sortKey) : '']
  return { partition, sort, place: `${inOrder(partition)}\0${inOrder(sort)}\0` }
}

function keyText(item: Item, name: string): string {
  const value = attribute(item, name)
  if (value === undefined) throw validationError('One of the required keys was not given a value')
  const { S } = value
  if (typeof S !== 'string') throw validationError('One or more parameter values were invalid: Type mismatch for key')
  if (S === '') throw validationError(`A key attribute cannot contain an empty string value. Key: ${name}`)
  return S
}

export function keyNames({ partitionKey, sortKey }: Schema): string[] {
  return sortKey ? [partitionKey, sortKey] : [partitionKey]
}

/** Refuses a key that is too long. Keys of stored items are not, so only writes are checked. */
export function checkKeyBytes({ partition, sort }: Key): void {
  if (Buffer.byteLength(partition) > 2_048 || Buffer.byteLength(sort) > 1_024) {
    throw validationError('One or more parameter values were invalid: Size of a key has exceeded its limit')
  }
}

export function checkIndexKeys({ indexes }: TableSchema, item: Item): void {
  for (const key of indexes.flatMap(keyNames)) {
    const value = attribute(item, key)
    if (value && !value.S) throw validationError(`The Index Key ${key} must be a text that is not empty`)
  }
}

/** Follows a place, and every place that begins with it. */
export const AFTER = '\xff'

/** The same in UTF-8, and without a zero. */
const PLAIN = /^[ -~]*$/

/** Undefined if the item lacks a key of the index: then it is not in it. */
export function placeInIndex(index: Schema, item: Item | undefined, { place }: Key): string | undefined {
  if (!item || keyNames(index).some((name) => attribute(item, name) === undefined)) return undefined
  return keyIn(index, item).place + place
}

/** The bytes of a text, without a zero that could be taken for its end. */
export function inOrder(text: string): string {
  return PLAIN.test(text) ? text : (bytesOf({ S: text }) as string).replaceAll('\0', `\0${AFTER}`)
}

export function refuseTwice(places: readonly string[], message: string): void {
  if (new Set(places).size < places.length) throw validationError(message)
}
