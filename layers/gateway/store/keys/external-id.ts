import { itemReader, type Tables, type TransactItem } from '../dynamodb/database.ts'
import { putNew } from '../dynamodb/transact.ts'
import { externalItem } from './key-item.ts'

export function findByExternalId({ database, keys }: Tables) {
  return itemReader(database, keys, externalItem, ({ keyId }) => keyId as string)
}

/** Part of the transaction in which a key gets its external id. If another key has it, the transaction fails. */
export function takeExternalId({ keys }: Tables, externalId: string, keyId: string): TransactItem {
  return putNew(keys, { ...externalItem(externalId), keyId })
}

/** Part of the transaction in which a key loses its external id, and whose condition on the key's version keeps it its own. */
export function freeExternalId({ keys }: Tables, externalId: string): TransactItem {
  return { Delete: { TableName: keys, Key: externalItem(externalId) } }
}
