import { firstUlid, lastUlid, ulidTimeMs } from '../../domain/basics/time.ts'
import type { ChangeEvent } from '../../domain/keys/change-event.ts'
import { type Item, queryItems, type Tables } from '../dynamodb/database.ts'
import { eventItem, monthOf, toEvent } from './events.ts'
import { findKeysWithEvents, readPendingEvents } from './pending-events.ts'

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

/** Newest first, read as far as the caller goes. */
export function listEvents(tables: Tables) {
  const { database, keys } = tables
  return async function* eventsOf(query: EventQuery): AsyncGenerator<ChangeEvent, void, undefined> {
    const { of, after } = query
    const fromMs = Math.max(query.fromMs, FIRST_EVENT_MS)
    const [first, last] = [firstUlid(fromMs), after ?? lastUlid(query.toMs)]
    // Read before the others: an event that is moved meanwhile is then seen twice, and not missed.
    const pending = (await pendingEvents(of))
      .filter(({ id }) => id >= first && id <= last && id !== after)
      .sort((a, b) => (a.id < b.id ? -1 : 1))
    for (const partition of of === undefined ? monthsBetween(fromMs, ulidTimeMs(last)) : [of]) {
      for await (const item of itemsOf(partition, first, last)) {
        const event = toEvent(item)
        while (pending.length > 0 && (pending.at(-1) as ChangeEvent).id > event.id) yield pending.pop() as ChangeEvent
        if (pending.at(-1)?.id === event.id) pending.pop()
        if (event.id !== after) yield event
      }
    }
    yield* pending.reverse()
  }

  async function pendingEvents(of: string | undefined): Promise<ChangeEvent[]> {
    const keyIds = of === undefined ? await Array.fromAsync(findKeysWithEvents(tables)()) : [of]
    return (await Promise.all(keyIds.map(readPendingEvents(tables)))).flat()
  }

  function itemsOf(partition: string, first: string, last: string): AsyncGenerator<Item, void, undefined> {
    return queryItems(database, {
      TableName: keys,
      KeyConditionExpression: 'pk = :pk AND sk BETWEEN :first AND :last',
      ExpressionAttributeValues: { ':pk': eventItem(partition, '').pk, ':first': first, ':last': last },
      ConsistentRead: true,
      ScanIndexForward: false,
      Limit: PAGE,
    })
  }
}

/** The newest first. */
function* monthsBetween(fromMs: number, toMs: number): Generator<string> {
  const first = monthOf(fromMs)
  for (let month = monthOf(toMs); month >= first; month = monthOf(Date.parse(`${month}-01T00:00:00Z`) - 1)) yield month
}
