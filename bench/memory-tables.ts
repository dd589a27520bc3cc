import { CATALOG_ITEM } from '../layers/gateway/contract.ts'
import type { CatalogData } from '../layers/gateway/domain/catalog.ts'
import type { Key } from '../layers/gateway/domain/key.ts'
import { hashItem, type Item, keyItem, toItem } from '../layers/gateway/store/keys/key-item.ts'
import type { Tables } from '../layers/gateway/store/tables.ts'
import { applyUpdate, type Update } from './apply-update.ts'

/** The tables of one key and one catalog, in this process, for measuring what the gateway costs without a database. */
export type MemoryTables = {
  readonly tables: Tables
  /** The key's item as it is now. */
  keyItem(): Item
  /** The last row that was written. */
  lastRow(): Item | undefined
}

type Rows = { last: Item | undefined }

/**
 * Does what DynamoDB does for requests that are in order: reads, updates and puts. It checks no condition, because every
 * request of the bench is within its limits and has an id of its own.
 */
export function openMemoryTables(catalog: CatalogData, key: Key): MemoryTables {
  const items = new Map<string, Item>()
  const rows: Rows = { last: undefined }
  const put = (item: Item) => items.set(nameOf(item), item)
  put({ ...CATALOG_ITEM, catalog, version: 1, pushedAt: new Date().toISOString() })
  put({ ...hashItem(key.current.hash), keyId: key.id })
  put(toItem(key))

  const database: Database = {
    get: (name) => items.get(nameOf(name)),
    update: (name, update) => applyUpdate(items.get(nameOf(name)) ?? {}, update),
    put: (item) => {
      rows.last = item
    },
  }
  const client = asClient(database)
  return {
    tables: { client, clientWithoutRetries: client, keys: 'keys', usage: 'usage', answers: 'answers' },
    keyItem: () => database.get(keyItem(key.id)) ?? {},
    lastRow: () => rows.last,
  }
}

function nameOf({ pk, sk }: Item): string {
  return `${pk} ${sk}`
}

// From here on: how the gateway's store calls a database today, which is by commands of the SDK's document client.

type Database = {
  get(key: Item): Item | undefined
  update(key: Item, update: Update): Item
  put(item: Item): void
}

type Command = { readonly constructor: { readonly name: string }; readonly input: Item }

function asClient(database: Database): Tables['client'] {
  async function send(command: Command): Promise<object> {
    const { input } = command
    const key = input.Key as Item
    switch (command.constructor.name) {
      case 'GetCommand':
        return { Item: database.get(key) }
      case 'UpdateCommand':
        return { Attributes: database.update(key, input as Update) }
      case 'PutCommand':
        database.put(input.Item as Item)
        return {}
      default:
        throw new Error(`The tables in memory do not know ${command.constructor.name}.`)
    }
  }
  return { send } as unknown as Tables['client']
}
