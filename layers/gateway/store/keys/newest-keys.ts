import { isoTime } from '../../domain/basics/time.ts'
import type { Key } from '../../domain/keys/key.ts'
import { TABLES } from '../../names.ts'
import { retry } from '../../platform/retry.ts'
import type { Item } from '../dynamodb/database.ts'
import type { Tables } from '../dynamodb/tables.ts'
import { keyIdOf, keyItem, toKey } from './key-item.ts'

const [, BY_CREATION] = TABLES.keys.indexes
const { sk: OF_KEYS } = keyItem('')

/** DynamoDB gives no more items in a batch. */
const BATCH = 100
const BATCHES_AT_ONCE = 16

/** The keys after this one, newest first. One that was made a moment ago may be missing from the index. */
export function newestKeys(tables: Tables) {
  const { database, keys: TableName } = tables
  return async function* keysAfter(
    after?: Pick<Key, 'createdAtMs' | 'id'>,
    pageSize = BATCH * BATCHES_AT_ONCE,
  ): AsyncGenerator<Key, void, undefined> {
    const first = after && { ...keyItem(after.id), [BY_CREATION.sortKey]: isoTime(after.createdAtMs) }
    for (let start: Item | undefined = first, isFirst = true; start || isFirst; isFirst = false) {
      const { Items = [], LastEvaluatedKey } = await database.query({
        TableName,
        IndexName: BY_CREATION.name,
        KeyConditionExpression: 'sk = :keys',
        ExpressionAttributeValues: { ':keys': OF_KEYS },
        ScanIndexForward: false,
        Limit: pageSize,
        ...(start && { ExclusiveStartKey: start }),
      })
      yield* await readKeys(tables, Items.map(keyIdOf))
      start = LastEvaluatedKey
    }
  }
}

/** In the order of the ids; a key that does not exist is left out. */
export async function readKeys(tables: Tables, ids: readonly string[]): Promise<Key[]> {
  const batches = Array.from({ length: Math.ceil(ids.length / BATCH) }, (_, i) =>
    ids.slice(i * BATCH, (i + 1) * BATCH).map(keyItem),
  )
  const items = await Promise.all(batches.map((batch) => readBatch(tables, batch)))
  const found = new Map(items.flat().map((item) => [item.id as string, toKey(item)]))
  return ids.flatMap((id) => found.get(id) ?? [])
}

class Unprocessed extends Error {}

async function readBatch({ database, keys }: Tables, batch: readonly Item[]): Promise<Item[]> {
  const found: Item[] = []
  let left = batch
  const read = async () => {
    const read = await database.batchGet(keys, left)
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
