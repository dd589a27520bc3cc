import type { TableDefinition } from '../../../layers/gateway/contract.ts'
import { unsupported, validationError } from './failures.ts'
import type { Key } from './stored-table.ts'
import { attribute, type Item, itemFromDocument } from './value.ts'

/** A key that is given by itself: its attributes and no others. */
export function keyOnly(table: TableDefinition, given: object | undefined): { key: Key; keyItem: Item } {
  const keyItem = itemFromDocument(given ?? {})
  const count = Object.keys(keyItem).length
  if (count !== (table.sortKey ? 2 : 1)) throw validationError('The number of conditions on the keys is invalid')
  return { key: keyIn(table, keyItem), keyItem }
}

export function keyIn({ partitionKey, sortKey }: TableDefinition, item: Item): Key {
  return { partition: keyText(item, partitionKey), sort: sortKey ? keyText(item, sortKey) : '' }
}

export function keyText(item: Item, name: string): string {
  const value = attribute(item, name)
  if (value === undefined) throw validationError('One of the required keys was not given a value')
  if (typeof value !== 'string')
    throw validationError('One or more parameter values were invalid: Type mismatch for key')
  if (value === '') throw validationError(`A key attribute cannot contain an empty string value. Key: ${name}`)
  return value
}

export function keyNames({ partitionKey, sortKey }: { partitionKey: string; sortKey?: string }): string[] {
  return sortKey ? [partitionKey, sortKey] : [partitionKey]
}

/** What the model would silently ignore, it refuses. */
export function refuseOthers(input: object, known: ReadonlySet<string>): void {
  for (const member in input) {
    if (!known.has(member) && input[member as keyof typeof input] !== undefined)
      throw unsupported(`the input ${member}`)
  }
}
