import { TABLES } from '../../contract.ts'
import type { ChangeEvent } from '../../domain/change-event.ts'
import { isoTime } from '../../domain/time.ts'
import { type Item, queryItems } from '../database.ts'
import { ifConditionHolds, retryRejected } from '../failures.ts'
import { keyIdOf, keyItem, SWEEP_AT_ONCE, sweepTime } from '../keys/key-item.ts'
import { firstPut, putOnce } from '../put-once.ts'
import type { Tables } from '../tables.ts'
import { eventItems, toEvent } from './events.ts'

/** An item that leads to a key, as a change has seen it: one of the same name that is made later is another. */
export type Pointer = { readonly pk: string; readonly sk: string; readonly expiresAt?: number }

const [BY_SWEEP] = TABLES.keys.indexes

/**
 * The attributes that keep events on a key's item. They are changed in the same write as the key, and the sweep is told.
 * The pointers are those that the change has ended.
 */
export function keepEvent(
  item: Item,
  { id, atMs, by, what, before, after }: ChangeEvent,
  pointers: readonly Pointer[],
) {
  const pending = { sk: id, at: isoTime(atMs), by, what, before, after, pointers }
  return { pendingEvents: [...pendingIn(item), pending], sweepAt: SWEEP_AT_ONCE }
}

type Pending = Item & { readonly pointers: readonly Pointer[] }

function pendingIn({ pendingEvents = [] }: Item): readonly Pending[] {
  return pendingEvents as Pending[]
}

/** Oldest first. */
export function eventsOn(item: Item): ChangeEvent[] {
  return pendingIn(item).map((pending) => toEvent({ ...pending, keyId: item.id }))
}

/** The keys that have events on their items. The index may be a moment behind. */
export function findKeysWithEvents({ database, keys }: Tables) {
  return async function* keysWithEvents(): AsyncGenerator<string, void, undefined> {
    const items = queryItems(database, {
      TableName: keys,
      IndexName: BY_SWEEP.name,
      KeyConditionExpression: '#partition = :key AND #sort = :atOnce',
      ExpressionAttributeNames: { '#partition': BY_SWEEP.partitionKey, '#sort': BY_SWEEP.sortKey },
      ExpressionAttributeValues: { ':key': keyItem('').sk, ':atOnce': SWEEP_AT_ONCE },
    })
    for await (const item of items) yield keyIdOf(item)
  }
}

export function readPendingEvents({ database, keys }: Tables) {
  return async (keyId: string): Promise<ChangeEvent[]> => {
    const { Item } = await database.get({ TableName: keys, Key: keyItem(keyId), ConsistentRead: true })
    return Item ? eventsOn(Item) : []
  }
}

/**
 * Moves a key's events from its item to the others, and deletes the pointers that their changes have ended. Any number may
 * do so at once or again: an event has the id of its act, and leaves the item last.
 */
export function moveEvents({ database, keys }: Tables) {
  return async (keyId: string, nowMs: number): Promise<void> => {
    const { Item: item = {} } = await database.get({ TableName: keys, Key: keyItem(keyId), ConsistentRead: true })
    for (const event of eventsOn(item).flatMap(eventItems)) await putOnce(database, firstPut(keys, event))
    for (const { pointers } of pendingIn(item)) for (const pointer of pointers) await deletePointer(keyId, pointer)
    if (pendingIn(item).length > 0) await forgetEvents(keyId, item.version, nowMs)
  }

  async function deletePointer(keyId: string, { pk, sk, expiresAt }: Pointer): Promise<void> {
    const isTheSame = expiresAt === undefined ? 'attribute_not_exists(expiresAt)' : 'expiresAt = :expiresAt'
    const write = {
      TableName: keys,
      Key: { pk, sk },
      ConditionExpression: `keyId = :keyId AND ${isTheSame}`,
      ExpressionAttributeValues: { ':keyId': keyId, ...(expiresAt !== undefined && { ':expiresAt': expiresAt }) },
    }
    await ifConditionHolds(retryRejected(() => database.delete(write)))
  }

  /** A change has come between if the version is another one; then the next sweep moves what is left. */
  async function forgetEvents(keyId: string, version: unknown, nowMs: number): Promise<void> {
    const write = {
      TableName: keys,
      Key: keyItem(keyId),
      ConditionExpression: 'version = :version AND attribute_exists(pendingEvents)',
      // Requests may be open, so the sweep decides when it must look at the key again.
      UpdateExpression: 'SET sweepAt = :now REMOVE pendingEvents',
      ExpressionAttributeValues: { ':version': version, ':now': sweepTime(nowMs) },
    }
    await ifConditionHolds(retryRejected(() => database.update(write)))
  }
}
