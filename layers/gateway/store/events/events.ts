import { isoTime } from '../../domain/basics/time.ts'
import type { Act } from '../../domain/keys/act.ts'
import type { ChangeEvent } from '../../domain/keys/change-event.ts'
import type { EventKind } from '../../domain/keys/event-names.ts'
import { ITEMS } from '../../names.ts'
import { firstPut } from '../dynamodb/conditional-writes.ts'
import { type Item, itemReader, type Tables, type TransactItem } from '../dynamodb/database.ts'
import { transact, WriteOutcomeUnknown } from '../dynamodb/transact.ts'

/** The owner of an event: a key, by its id, or the catalog. */
export const CATALOG_EVENTS = ITEMS.catalog

/** A month has a partition of its own, so that all events are found without reading the keys. */
export const monthOf = (ms: number) => new Date(ms).toISOString().slice(0, 7)

export const eventItem = (of: string, eventId: string) => ({ pk: `${ITEMS.event}${of}`, sk: eventId })

/** Part of the transaction that makes the change. The event of an act that was done before stops the transaction. */
export function putEvent({ keys }: Pick<Tables, 'keys'>, event: ChangeEvent): TransactItem[] {
  return eventItems(event).map((Item) => ({ Put: firstPut(keys, Item) }))
}

/** An event is kept twice: with those of its owner, and with those of its month. */
export function eventItems(event: ChangeEvent): Item[] {
  const { id, atMs, by, what, keyId, before, after } = event
  const content = { at: isoTime(atMs), by, what, keyId, before, after }
  return [keyId ?? CATALOG_EVENTS, monthOf(atMs)].map((of) => ({ ...eventItem(of, id), ...content }))
}

export function toEvent(item: Item): ChangeEvent {
  return {
    id: item.sk as string,
    atMs: Date.parse(item.at as string),
    by: item.by as string,
    what: item.what as EventKind,
    ...(item.keyId !== undefined && { keyId: item.keyId as string }),
    before: item.before as ChangeEvent['before'],
    after: item.after as ChangeEvent['after'],
  }
}

/** The event of an act on a key, or on the catalog. It exists if the act was done, unless it is still on the key's item. */
export function findEvent({ database, keys }: Tables) {
  return itemReader(database, keys, eventItem, toEvent)
}

/** True for an act whose answer was lost, and that is sent again. */
export async function wasDone(tables: Tables, of: string, { id }: Act): Promise<boolean> {
  return (await findEvent(tables)(of, id)) !== undefined
}

/** False if a condition failed. */
type Made = 'now' | 'before' | false

/**
 * Makes a change whose event is among its items, once for an act. 'before' if the act has its event already, by an
 * earlier call or by a try whose answer was lost. `of` is the owner of the event.
 */
export async function makeOnce(tables: Tables, of: string, act: Act, items: readonly TransactItem[]): Promise<Made> {
  try {
    if (await transact(tables, items, act)) return 'now'
  } catch (error) {
    if (!(error instanceof WriteOutcomeUnknown)) throw error
    if (await wasDone(tables, of, act).catch(() => false)) return 'before'
    throw error
  }
  return (await wasDone(tables, of, act)) ? 'before' : false
}
