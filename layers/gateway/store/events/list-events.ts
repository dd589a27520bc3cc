import type { ChangeEvent } from '../../domain/change-event.ts'
import { ulid, ulidTimeMs } from '../../domain/ulid.ts'
import { queryItems } from '../database.ts'
import type { Tables } from '../tables.ts'
import { eventItem, monthOf, toEvent } from './event-item.ts'

type EventQuery = {
  /** Only events of this key, or with `CATALOG_EVENTS` of the catalog. */
  readonly of?: string | undefined
  readonly fromMs: number
  readonly toMs: number
  /** Only events before this one: the last of the page before. */
  readonly after?: string | undefined
}

/** Newest first, read as far as the caller goes. */
type ListEvents = (query: EventQuery) => AsyncGenerator<ChangeEvent, void, undefined>

const PAGE = 100
/** There were no events before, so an early start costs no query for each month. */
const FIRST_EVENT_MS = Date.UTC(2026, 0)
const FIRST = new Uint8Array(10)
const LAST = new Uint8Array(10).fill(255)

export function listEvents({ database, keys }: Tables): ListEvents {
  return async function* eventsOf({ of, toMs, after, ...range }) {
    const fromMs = Math.max(range.fromMs, FIRST_EVENT_MS)
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
