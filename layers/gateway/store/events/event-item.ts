import { ITEMS } from '../../contract.ts'
import type { ChangeEvent, EventKind } from '../../domain/change-event.ts'
import { isoTime } from '../../domain/time.ts'
import type { Item } from '../database.ts'

/** The owner of an event: a key, by its id, or the catalog. */
export const CATALOG_EVENTS = ITEMS.catalog

/** A month has a partition of its own, so that all events are found without reading the keys. */
export const monthOf = (ms: number) => new Date(ms).toISOString().slice(0, 7)

export const eventItem = (of: string, eventId: string) => ({ pk: `${ITEMS.event}${of}`, sk: eventId })

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
