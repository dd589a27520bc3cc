import { CATALOG_ITEM } from '../layers/gateway/contract.ts'
import type { CatalogData } from '../layers/gateway/domain/catalog.ts'
import { COUNTER_NAMES, COUNTERS } from '../layers/gateway/domain/counters.ts'
import type { Key } from '../layers/gateway/domain/key.ts'
import type { Database, Item, UpdateInput } from '../layers/gateway/store/database.ts'
import { hashItem, keyItem, toItem } from '../layers/gateway/store/keys/key-item.ts'
import type { Tables } from '../layers/gateway/store/tables.ts'

/** The tables of some keys and one catalog, in this process, to measure the gateway's cost without a database. */
export type MemoryTables = {
  readonly tables: Tables
  /** The item of the first key as it is now. */
  keyItem(): Item
  lastRow(): Item | undefined
}

/**
 * Does what DynamoDB does for valid requests: reads, admissions, settlements and rows. It checks no condition, because
 * every request of the bench is within its limits and has an id of its own.
 */
export function openMemoryTables(catalog: CatalogData, keys: readonly Key[]): MemoryTables {
  const accounts = new Map(keys.map((key) => [keyItem(key.id).pk, new Account(key)]))
  const accountOf = ({ pk }: Item) => accounts.get(pk as string) as Account
  const items = new Map<string, () => Item>([
    [nameOf(CATALOG_ITEM), () => ({ ...CATALOG_ITEM, catalog, version: 1, pushedAt: '2026-01-01T00:00:00.000Z' })],
    ...keys.map((key) => [nameOf(hashItem(key.current.hash)), () => ({ keyId: key.id })] as const),
    ...keys.map(({ id }) => [nameOf(keyItem(id)), () => accountOf(keyItem(id)).item()] as const),
  ])
  let lastRow: Item | undefined
  const database: Database = {
    get: async ({ Key }) => ({ Item: items.get(nameOf(Key))?.() }),
    put: async ({ Item }) => {
      lastRow = Item
      return {}
    },
    updateOnce: async (input) => ({ Attributes: accountOf(input.Key).admit(input) }),
    update: async (input) => {
      accountOf(input.Key).settle(input)
      return {}
    },
    delete: unknown,
    query: unknown,
    scan: unknown,
  }
  return {
    tables: { database, keys: 'keys', usage: 'usage', answers: 'answers' },
    keyItem: () => [...accounts.values()][0]?.item() ?? {},
    lastRow: () => lastRow,
  }
}

function nameOf({ pk, sk }: Item): string {
  return `${pk} ${sk}`
}

function unknown(): never {
  throw new Error('The tables in memory do not know this call.')
}

type Values = {
  readonly ':hold': bigint
  readonly ':back': bigint
  readonly ':cost': bigint
  readonly ':open': Uint8Array
  readonly ':firstTaken'?: number
  readonly ':interval': number
  readonly ':nowMs': number
}

/** The changing part of a key's item. */
class Account {
  readonly #key: Key
  #open: Uint8Array[] = []
  #available: bigint
  #spent = 0n
  #bucketFullAtUs = 0
  #counts: Record<string, bigint> = {}
  #use: { lastUsedAtMs?: number } = {}

  constructor(key: Key) {
    this.#key = key
    this.#available = key.available
  }

  admit({ ExpressionAttributeNames: names, ExpressionAttributeValues: given }: UpdateInput): Item {
    const values = given as unknown as Values
    this.#bucketFullAtUs = values[':firstTaken'] ?? this.#bucketFullAtUs + values[':interval']
    this.#available -= values[':hold']
    this.#use = { lastUsedAtMs: values[':nowMs'] }
    for (const name of COUNTER_NAMES) {
      const attribute = names?.[`#${name}`] as string
      const taken = COUNTERS[name].counts === 'credits' ? values[':hold'] : 1n
      this.#counts[attribute] = (this.#counts[attribute] ?? 0n) + taken
    }
    this.#open.push(values[':open'])
    return this.#changing()
  }

  settle({ ExpressionAttributeValues: given }: UpdateInput): void {
    const values = given as unknown as Values
    this.#available += values[':back']
    this.#spent += values[':cost']
    this.#open = this.#open.filter((hold) => Buffer.compare(hold, values[':open']) !== 0)
  }

  item(): Item {
    return { ...toItem(this.#key), spent: this.#spent, ...this.#changing() }
  }

  #changing(): Item {
    const item: Item = { available: this.#available, bucketFullAtUs: this.#bucketFullAtUs }
    Object.assign(item, this.#use, this.#counts)
    if (this.#open.length > 0) item.openHolds = new Set(this.#open)
    return item
  }
}
