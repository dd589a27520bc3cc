import { validationError } from './failures.ts'
import type { Key, Schema, StoredTable, TableSchema } from './stored-table.ts'
import { attribute, type Item } from './value.ts'

/** A key that is given by itself: its attributes and no others. */
export function keyOnly(schema: Schema, given: Item = {}): Key {
  if (Object.keys(given).length !== keyNames(schema).length) {
    throw validationError('The number of conditions on the keys is invalid')
  }
  return keyIn(schema, given)
}

export function keyIn({ partitionKey, sortKey }: Schema, item: Item): Key {
  return { partition: keyText(item, partitionKey), sort: sortKey ? keyText(item, sortKey) : '' }
}

function keyText(item: Item, name: string): string {
  const value = attribute(item, name)
  if (value === undefined) throw validationError('One of the required keys was not given a value')
  if (typeof value !== 'string')
    throw validationError('One or more parameter values were invalid: Type mismatch for key')
  if (value === '') throw validationError(`A key attribute cannot contain an empty string value. Key: ${name}`)
  return value
}

export function keyNames({ partitionKey, sortKey }: Schema): string[] {
  return sortKey ? [partitionKey, sortKey] : [partitionKey]
}

const PARTITION_KEY_BYTES = 2_048
const SORT_KEY_BYTES = 1_024

/** Refuses a key that is too long. Keys of stored items are not, so only writes are checked. */
export function checkKeyBytes({ partition, sort }: Key): void {
  if (Buffer.byteLength(partition) > PARTITION_KEY_BYTES || Buffer.byteLength(sort) > SORT_KEY_BYTES) {
    throw validationError('One or more parameter values were invalid: Size of a key has exceeded its limit')
  }
}

export function checkIndexKeys({ indexes }: TableSchema, item: Item): void {
  for (const index of indexes) {
    for (const key of keyNames(index)) {
      const value = attribute(item, key)
      if (value === undefined) continue
      if (typeof value !== 'string')
        throw validationError(`Type mismatch for Index Key ${key}, IndexName: ${index.name}`)
      if (value === '')
        throw validationError(`An index key cannot be an empty string: ${key}, IndexName: ${index.name}`)
    }
  }
}

export function placeInTables({ name }: StoredTable, { partition, sort }: Key): string {
  return `${name}\0${partition}\0${sort}`
}

export function refuseTwice(places: readonly string[], message: string): void {
  if (new Set(places).size < places.length) throw validationError(message)
}
