import type { z } from 'zod'
import { isoTime, ULID } from '../../gateway/domain/basics/time.ts'
import { isAdminKeyId } from '../../gateway/domain/keys/admin-key.ts'
import type { ChangeEvent } from '../../gateway/domain/keys/change-event.ts'
import { EVENT_NAMES } from '../../gateway/domain/keys/event-names.ts'
import { latestRowMs } from '../../gateway/domain/rows/closed-day.ts'
import { mapConcurrently } from '../../gateway/platform/map-concurrently.ts'
import { CATALOG_EVENTS } from '../../gateway/store/events/events.ts'
import { listEvents } from '../../gateway/store/events/list-events.ts'
import { readOne } from '../../gateway/store/keys/rotating-item.ts'
import { type Delivery, listDeliveries } from '../../gateway/store/notices/deliveries.ts'
import type { Call } from './call.ts'
import { accountInPath, changeOf, keyInPath, kindOf, known } from './changed-key.ts'
import { cursorOf, firstOf, pageOf, readCursor } from './pages.ts'
import type { List } from './shapes/answers.ts'
import type { EventShape } from './shapes/books.ts'
import type { eventsQuery, keyEventsQuery, pageQuery } from './shapes/queries.ts'

/** A filter that few events pass does not read all events at once: the list goes on at its cursor. */
const MOST_READ = 2_000
const READ_AT_ONCE = 20

export async function list(call: Call, sent: z.output<typeof eventsQuery>): Promise<List<EventShape>> {
  const { key_id: id, what } = sent
  if (id !== undefined) await known(call, kindOf(id), id, 'key_id')
  return eventsOf(call, id ?? (what?.startsWith('catalog') ? CATALOG_EVENTS : undefined), sent)
}

type EventsQuery = z.output<typeof keyEventsQuery>

const listOf = (find: (call: Call) => Promise<{ readonly id: string }>) => async (call: Call, sent: EventsQuery) =>
  eventsOf(call, (await find(call)).id, sent)

export const listOfKey = listOf(keyInPath)
export const listOfAccount = listOf(accountInPath)

async function eventsOf(call: Call, of: string | undefined, sent: EventsQuery): Promise<List<EventShape>> {
  const { limit, what, by, from: fromMs = 0, to: toMs = latestRowMs(call.nowMs) } = sent
  const [after] = readCursor(sent.after, ULID) ?? []
  const found: ChangeEvent[] = []
  let [read, last, hasMore] = [0, after, false]
  for await (const event of listEvents(call.tables)({ of, fromMs, toMs, after })) {
    if (found.length === limit || read === MOST_READ) {
      hasMore = true
      break
    }
    read += 1
    last = event.id
    if (isOf(event, what) && (by === undefined || event.by === by)) found.push(event)
  }
  const names = await namesOf(call, found)
  const shapes = found.map((event) => eventShape(event, names))
  return pageOf(shapes, hasMore, read === 0 ? undefined : cursorOf(last ?? ''))
}

async function namesOf({ tables }: Call, events: readonly ChangeEvent[]): Promise<ReadonlyMap<string, string>> {
  const owners = events.flatMap((event) => [event.keyId, accountOf(event)]).filter((id) => id !== undefined)
  const ids = new Set([...owners, ...events.map(({ by }) => by).filter(isAdminKeyId)])
  const read = async (id: string) => {
    const key = await readOne(tables, kindOf(id))(id)
    return key ? [[id, key.name] as const] : []
  }
  return new Map(await Array.fromAsync(mapConcurrently(ids, READ_AT_ONCE, read)))
}

/** The account that a key came into. */
const accountOf = ({ after }: ChangeEvent) => after.accountId as string | undefined

function isOf(event: ChangeEvent, what: string | undefined): boolean {
  const told: string | undefined = EVENT_NAMES[event.what]
  return what === undefined || told === what || told?.startsWith(`${what}.`) === true
}

function eventShape(event: ChangeEvent, names: ReadonlyMap<string, string>): EventShape {
  const nameOf = (id = '') => names.get(id) ?? null
  const { id, atMs, by, what, keyId } = event
  return {
    object: 'event',
    id,
    at: isoTime(atMs),
    by,
    by_name: nameOf(by),
    what: EVENT_NAMES[what],
    key_id: keyId ?? null,
    key_name: nameOf(keyId),
    account_name: nameOf(accountOf(event)),
    ...changeOf(event),
  }
}

export async function listNotices({ tables }: Call, sent: z.output<typeof pageQuery>): Promise<List<Delivery>> {
  const [before] = readCursor(sent.after, /^\w{26}$/) ?? []
  const found = await firstOf(listDeliveries(tables)(before), sent.limit + 1)
  const page = found.slice(0, sent.limit)
  return pageOf(page, found.length > sent.limit, page.length > 0 ? cursorOf(page.at(-1)?.id ?? '') : undefined)
}
