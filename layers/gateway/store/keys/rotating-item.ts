import { isoTime } from '../../domain/basics/time.ts'
import type { RotatingKey } from '../../domain/keys/key.ts'
import { type Item, itemReader, type Tables } from '../dynamodb/database.ts'

type ItemKey = { readonly pk: string; readonly sk: string }

/** The items of one kind of key. Each secret has an item of its own, by its hash, that leads to the key. */
export type KeyItems<K> = ItemsOf<K> & { readonly secretItemOf: (hash: string) => ItemKey }

export type ItemsOf<K> = {
  readonly itemOf: (id: string) => ItemKey
  /** All items of the kind have it, and no others. */
  readonly sortKey: string
  readonly toKey: (item: Item) => K
}

export function rotatingAttributes({ id, status, current, previous, createdAtMs, version }: RotatingKey): Item {
  return {
    id,
    status,
    currentHash: current.hash,
    currentLastFour: current.lastFour,
    previousHash: previous?.hash,
    previousLastFour: previous?.lastFour,
    previousUntilMs: previous?.untilMs,
    previousUsedAtMs: previous?.usedAtMs,
    createdAt: isoTime(createdAtMs),
    version,
  }
}

export const PREVIOUS_SECRET = ['previousHash', 'previousLastFour', 'previousUntilMs', 'previousUsedAtMs']

export function toRotatingKey(item: Item): RotatingKey {
  const { previousUsedAtMs: usedAtMs } = item
  return {
    id: item.id as string,
    status: item.status as RotatingKey['status'],
    current: { hash: item.currentHash as string, lastFour: item.currentLastFour as string },
    ...(item.previousHash !== undefined && {
      previous: {
        hash: item.previousHash as string,
        lastFour: item.previousLastFour as string,
        untilMs: item.previousUntilMs as number,
        ...(usedAtMs !== undefined && { usedAtMs: usedAtMs as number }),
      },
    }),
    createdAtMs: Date.parse(item.createdAt as string),
    version: item.version as number,
  }
}

export function readOne<K>({ database, keys }: Tables, { itemOf, toKey }: ItemsOf<K>) {
  return itemReader(database, keys, itemOf, toKey)
}

export function findId<K>({ database, keys }: Tables, { secretItemOf }: KeyItems<K>) {
  return async (hash: string): Promise<string | undefined> => {
    const input = { TableName: keys, Key: secretItemOf(hash), ConsistentRead: true, ProjectionExpression: 'keyId' }
    const { Item } = await database.get(input)
    return Item?.keyId as string | undefined
  }
}
