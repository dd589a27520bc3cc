import { isoTime } from '../../domain/basics/time.ts'
import { ULID, ulidTimeMs } from '../../domain/basics/ulid.ts'
import { isAdminKeyId } from '../../domain/keys/admin-key.ts'
import { type ChangeEvent, URGENT_EVENTS } from '../../domain/keys/change-event.ts'
import { ADMIN_KEY_ITEMS } from '../admin-keys/admin-key-item.ts'
import type { Item } from '../dynamodb/database.ts'
import { externalItem, KEY_ITEMS } from '../keys/key-item.ts'
import type { KeyItems } from '../keys/rotating-item.ts'
import { toEvent } from './events.ts'

/** An item that leads to a key, as a change has seen it: one of the same name that is made later is another. */
export type Pointer = { readonly pk: string; readonly sk: string; readonly expiresAt?: number }

/** An event as the item of its key keeps it, with the pointers that its change has ended. */
export type Pending = Item & { readonly pointers: readonly Pointer[] }

/** The items of a key or an admin key, by its id. */
export function itemsFor(id: string): Pick<KeyItems<unknown>, 'itemOf' | 'secretItemOf'> {
  return isAdminKeyId(id) ? ADMIN_KEY_ITEMS : KEY_ITEMS
}

/**
 * Undefined for an entry that no operator's change leaves on the item of this key. Functions that admit requests may write
 * the item, so its entries are believed no further than they must be: the key is the one that the item is of.
 */
export function readPending(
  id: string,
  kept: unknown,
): { readonly event: ChangeEvent; readonly pointers: readonly Pointer[] } | undefined {
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
