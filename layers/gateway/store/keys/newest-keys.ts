import { isoTime } from '../../domain/basics/time.ts'
import type { Key, Versioned } from '../../domain/keys/key.ts'
import { TABLES } from '../../names.ts'
import { retry } from '../../platform/retry.ts'
import type { Item, Tables } from '../dynamodb/database.ts'
import { KEY_ITEMS } from './key-item.ts'
import type { ItemsOf } from './rotating-item.ts'

const [, BY_CREATION] = TABLES.keys.indexes

/** DynamoDB gives no more items in a batch. */
export const BATCH = 100
const BATCHES_AT_ONCE = 16

export const newestKeys = (tables: Tables) => newest(tables, KEY_ITEMS)

/** Those of a kind after this one, newest first. One that was made a moment ago may be missing from the index. */
export function newest<K>(tables: Tables, kind: ItemsOf<K>) {
  const { database, keys: TableName } = tables
  const idOf = ({ pk }: Item) => (pk as string).slice(kind.itemOf('').pk.length)
  return async function* newestAfter(
    after?: Pick<Versioned, 'createdAtMs' | 'id'>,
    pageSize = BATCH * BATCHES_AT_ONCE,
  ): AsyncGenerator<K, void, undefined> {
    const first = after && { ...kind.itemOf(after.id), [BY_CREATION.sortKey]: isoTime(after.createdAtMs) }
    for (let start: Item | undefined = first, isFirst = true; start || isFirst; isFirst = false) {
      const { Items = [], LastEvaluatedKey } = await database.query({
        TableName,
        IndexName: BY_CREATION.name,
        KeyConditionExpression: 'sk = :kind',
        ExpressionAttributeValues: { ':kind': kind.sortKey },
        ScanIndexForward: false,
        Limit: pageSize,
        ...(start && { ExclusiveStartKey: start }),
      })
      yield* await readMany(tables, kind, Items.map(idOf))
      start = LastEvaluatedKey
    }
  }
}

export function readKeys(tables: Tables, ids: readonly string[]): Promise<Key[]> {
  return readMany(tables, KEY_ITEMS, ids)
}

/** In the order of the ids; one that does not exist is left out. */
export async function readMany<K>(tables: Tables, kind: ItemsOf<K>, ids: readonly string[]): Promise<K[]> {
  const batches = Array.from({ length: Math.ceil(ids.length / BATCH) }, (_, i) =>
    ids.slice(i * BATCH, (i + 1) * BATCH).map(kind.itemOf),
  )
  const items = await Promise.all(batches.map((batch) => readBatch(tables, 'keys', batch)))
  const found = new Map(items.flat().map((item) => [item.pk, kind.toKey(item)]))
  return ids.flatMap((id) => found.get(kind.itemOf(id).pk) ?? [])
}

class Unprocessed extends Error {}

export async function readBatch(tables: Tables, table: 'keys' | 'usage', batch: readonly Item[]): Promise<Item[]> {
  const found: Item[] = []
  let left = batch
  const read = async () => {
    const read = await tables.database.batchGet(tables[table], left)
    found.push(...read.Items)
    left = read.left
    if (left.length > 0) throw new Unprocessed('DynamoDB left keys of a batch unread.')
  }
  await retry(read, {
    when: (error) => error instanceof Unprocessed,
    pauseMs: (attempt) => Math.min(50 * attempt, 400),
    tries: 10,
  })
  return found
}
