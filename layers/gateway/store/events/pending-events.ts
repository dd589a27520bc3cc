import { isoTime, ULID, ulidTimeMs } from '../../domain/basics/time.ts'
import { isAdminKeyId } from '../../domain/keys/admin-key.ts'
import { type ChangeEvent, URGENT_EVENTS } from '../../domain/keys/change-event.ts'
import { ADMIN_KEY_ITEMS } from '../admin-keys/admin-key-item.ts'
import { dueItems } from '../admission/sweep.ts'
import { firstPut, ifConditionHolds, putOnce, retryRejected, updateIf } from '../dynamodb/conditional-writes.ts'
import type { Item, Tables } from '../dynamodb/database.ts'
import { externalItem, KEY_ITEMS, SWEEP_AT_ONCE, sweepTime } from '../keys/key-item.ts'
import type { KeyItems } from '../keys/rotating-item.ts'
import { eventItems, toEvent } from './events.ts'

/** Keeps an event on its key's item, in the write that changes the key. The change has ended the pointers. */
export function keepEvent(item: Item, event: ChangeEvent, pointers: readonly Pointer[]) {
  const { id: sk, atMs, by, what, before, after } = event
  const pending: Pending = { sk, at: isoTime(atMs), by, what, before, after, pointers }
  return { pendingEvents: [...keptIn(item), pending], sweepAt: SWEEP_AT_ONCE }
}

function keptIn({ pendingEvents }: Item): readonly unknown[] {
  return Array.isArray(pendingEvents) ? pendingEvents : []
}

/** Oldest first. */
export function eventsOn(id: string, item: Item): ChangeEvent[] {
  return keptIn(item).flatMap((kept) => readPending(id, kept)?.event ?? [])
}

/** The ids of the keys and admin keys that have events on their items. The index may be a moment behind. */
export function findKeysWithEvents(tables: Tables) {
  return async function* keysWithEvents(): AsyncGenerator<string, void, undefined> {
    for (const { itemOf, sortKey } of [KEY_ITEMS, ADMIN_KEY_ITEMS]) {
      yield* dueItems(tables, sortKey, SWEEP_AT_ONCE, ({ pk }) => (pk as string).slice(itemOf('').pk.length))
    }
  }
}

export function readPendingEvents({ database, keys }: Tables) {
  return async (id: string): Promise<ChangeEvent[]> => {
    const { Item } = await database.get({ TableName: keys, Key: itemsFor(id).itemOf(id), ConsistentRead: true })
    return Item ? eventsOn(id, Item) : []
  }
}

/**
 * Moves the events of a key, or an admin key, from its item to the others, and deletes the pointers that their changes have
 * ended. Any number may do so at once or again: an event has the id of its act, and leaves the item last. `own` is the event
 * of the act that moves: it is put as the act knows it, and not as the item has it. The number of entries that cannot have
 * come from an operator is reported; without a report, they stay for the sweep.
 */
export function moveEvents(tables: Tables, report?: (forged: number) => void) {
  const { database, keys } = tables
  return async (id: string, nowMs: number, own?: ChangeEvent): Promise<void> => {
    const Key = itemsFor(id).itemOf(id)
    const { Item: item = {} } = await database.get({ TableName: keys, Key, ConsistentRead: true })
    const kept = keptIn(item)
    const read = kept.flatMap((one) => readPending(id, one) ?? [])
    const events = [...(own ? [own] : []), ...read.map(({ event }) => event).filter((event) => event.id !== own?.id)]
    for (const event of events.flatMap(eventItems)) await putOnce(database, firstPut(keys, event))
    const pointers = read.flatMap((one) => one.pointers).filter((pointer) => isEnded(pointer, id, item))
    for (const pointer of pointers) await deletePointer(id, pointer)
    const forged = kept.length - read.length
    if (item.pendingEvents === undefined || (forged > 0 && !report)) return
    await forgetEvents(id, item.version, nowMs)
    if (forged > 0) report?.(forged)
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
  async function forgetEvents(id: string, version: unknown, nowMs: number): Promise<void> {
    await updateIf(tables, itemsFor(id).itemOf(id), {
      ConditionExpression: 'version = :version AND attribute_exists(pendingEvents)',
      ...(isAdminKeyId(id)
        ? { UpdateExpression: 'REMOVE pendingEvents, sweepAt', ExpressionAttributeValues: { ':version': version } }
        : {
            // Requests may be open, so the sweep decides when it must look at the key again.
            UpdateExpression: 'SET sweepAt = :now REMOVE pendingEvents',
            ExpressionAttributeValues: { ':version': version, ':now': sweepTime(nowMs) },
          }),
    })
  }
}

/** An item that leads to a key, as a change has seen it: one of the same name that is made later is another. */
export type Pointer = { readonly pk: string; readonly sk: string; readonly expiresAt?: number }

/** An event as the item of its key keeps it, with the pointers that its change has ended. */
type Pending = Item & { readonly pointers: readonly Pointer[] }

function itemsFor(id: string): Pick<KeyItems<unknown>, 'itemOf' | 'secretItemOf'> {
  return isAdminKeyId(id) ? ADMIN_KEY_ITEMS : KEY_ITEMS
}

// Undefined for an entry that no operator's change leaves on the item of this key. Functions that admit requests may write
// the item, so its entries are believed no further than they must be: the key is the one that the item is of.
function readPending(id: string, kept: unknown) {
  return isObject(kept) && isEvent(id, kept) && hasPointers(id, kept)
    ? { event: toEvent({ ...kept, keyId: id }), pointers: kept.pointers }
    : undefined
}

function isEvent(id: string, { sk, at, by, what, before, after }: Item): boolean {
  const owner = isAdminKeyId(id) ? 'admin_key.' : 'key.'
  const isUrgent = URGENT_EVENTS.some((kind) => kind === what && kind.startsWith(owner))
  const isOfItsTime = typeof sk === 'string' && ULID.test(sk) && at === isoTime(ulidTimeMs(sk))
  return isUrgent && isOfItsTime && typeof by === 'string' && isObject(before) && isObject(after)
}

function hasPointers(id: string, kept: Item): kept is Pending {
  return Array.isArray(kept.pointers) && kept.pointers.every((pointer) => isObject(pointer) && isPointer(id, pointer))
}

/** No other item is ever deleted by the name that an entry gives. */
function isPointer(id: string, { pk, sk, expiresAt }: Item): boolean {
  const kinds = [itemsFor(id).secretItemOf(''), ...(isAdminKeyId(id) ? [] : [externalItem('')])]
  const isOne = kinds.some((kind) => typeof pk === 'string' && pk.startsWith(kind.pk) && sk === kind.sk)
  return isOne && (expiresAt === undefined || typeof expiresAt === 'number')
}

/** False for a pointer that the key still has, or has again. */
export function isEnded({ pk }: Pointer, id: string, item: Item): boolean {
  if (item.status === 'revoked') return true
  const { secretItemOf } = itemsFor(id)
  const { currentHash, previousHash, externalId } = item as Readonly<Record<string, string>>
  const inForce = [secretItemOf(currentHash ?? ''), secretItemOf(previousHash ?? ''), externalItem(externalId ?? '')]
  return inForce.every((pointer) => pointer.pk !== pk)
}

function isObject(value: unknown): value is Item {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
