import { ITEMS } from '../../contract.ts'
import type { ChangeEvent, EventKind } from '../../domain/change-event.ts'
import { isoTime } from '../../domain/time.ts'
import { ulid, ulidTimeMs } from '../../domain/ulid.ts'
import { type Item, queryItems } from '../database.ts'
import type { Tables } from '../tables.ts'
import { putNew, type TransactItem } from '../transact.ts'

/** The owner of an event: a key, by its id, or the catalog. */
export const CATALOG_EVENTS = ITEMS.catalog

/** A month has a partition of its own, so that all events are found without reading the keys. */
const monthOf = (ms: number) => new Date(ms).toISOString().slice(0, 7)

export const eventItem = (of: string, eventId: string) => ({ pk: `${ITEMS.event}${of}`, sk: eventId })

/** For the transaction that makes the change. The event of an act that was done before stops the transaction. */
export function putEvent({ keys }: Pick<Tables, 'keys'>, event: ChangeEvent): TransactItem[] {
  return eventItems(event).map((item) => putNew(keys, item))
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

/** The event of an act on a key, or on the catalog: it exists if the act was done. */
export function findEvent({ database, keys }: Tables) {
  return async (of: string, actId: string): Promise<ChangeEvent | undefined> => {
    const { Item } = await database.get({ TableName: keys, Key: eventItem(of, actId), ConsistentRead: true })
    return Item && toEvent(Item)
  }
}

type EventQuery = {
  /** Only events of this key, or with `CATALOG_EVENTS` of the catalog. */
  readonly of?: string | undefined
  readonly fromMs: number
  readonly toMs: number
  /** Only events before this one: the last of the page before. */
  readonly after?: string | undefined
}

const PAGE = 100
/** There were no events before, so an early start costs no query for each month. */
const FIRST_EVENT_MS = Date.UTC(2026, 0)
const FIRST = new Uint8Array(10)
const LAST = new Uint8Array(10).fill(255)

/** Newest first, read as far as the caller goes. */
export function listEvents({ database, keys }: Tables) {
  return async function* eventsOf(query: EventQuery): AsyncGenerator<ChangeEvent, void, undefined> {
    const { of, toMs, after } = query
    const fromMs = Math.max(query.fromMs, FIRST_EVENT_MS)
    const last = after ?? ulid(toMs, LAST)
    for (const partition of of === undefined ? monthsBetween(fromMs, ulidTimeMs(last)) : [of]) {
      const items = queryItems(database, {
        TableName: keys,
        KeyConditionExpression: 'pk = :pk AND sk BETWEEN :first AND :last',
        ExpressionAttributeValues: { ':pk': eventItem(partition, '').pk, ':first': ulid(fromMs, FIRST), ':last': last },
        ConsistentRead: true,
        ScanIndexForward: false,
        Limit: PAGE,
      })
      for await (const item of items) if (item.sk !== after) yield toEvent(item)
    }
  }
}

/** The newest first. */
function* monthsBetween(fromMs: number, toMs: number): Generator<string> {
  const first = monthOf(fromMs)
  for (let month = monthOf(toMs); month >= first; month = monthOf(Date.parse(`${month}-01T00:00:00Z`) - 1)) yield month
}
