import type { ChangeEvent, EventKind } from '../../gateway/domain/change-event.ts'
import { readAdminKey } from '../../gateway/store/admin-keys/read-admin-key.ts'
import { CATALOG_EVENTS } from '../../gateway/store/events/event-item.ts'
import { listEvents } from '../../gateway/store/events/list-events.ts'
import { moment, oneOf, textLike } from '../settings/rules.ts'
import { horizonOf } from '../usage/usage-rows.ts'
import { AdminError } from './admin-error.ts'
import type { Answer, Call } from './call.ts'
import { keyInPath, keyNamed } from './changed-key.ts'
import { cursorOf, limitOf, queried, readCursor } from './pages.ts'
import type { List } from './shapes/answers.ts'
import type { EventShape } from './shapes/books.ts'

/** What happened, as it is told. */
const TOLD: Readonly<Record<EventKind, string>> = {
  'key.create': 'key.created',
  'key.update': 'key.updated',
  'key.rotate': 'key.rotated',
  'key.end_grace': 'key.grace_ended',
  'key.revoke': 'key.revoked',
  'key.grant': 'key.granted',
  'admin_key.create': 'admin_key.created',
  'admin_key.rotate': 'admin_key.rotated',
  'admin_key.revoke': 'admin_key.revoked',
  'catalog.push': 'catalog.pushed',
  'catalog.rollback': 'catalog.rolled_back',
}
/** One kind, or all of what was changed: a key, an admin key, or the catalog. */
const KINDS = [...Object.values(TOLD), 'key', 'admin_key', 'catalog']
const ULID = /^[0-7][0-9A-HJKMNP-TV-Z]{25}$/
/** A filter that few events pass does not read all there are at once: the list goes on where it stopped. */
const MOST_READ = 2_000

export async function listEventsPage(call: Call): Promise<Answer> {
  const what = queried(call, 'what', oneOf(KINDS))
  const keyId = await keyOfEvents(call)
  return eventsOf(call, keyId ?? (what?.startsWith('catalog') ? CATALOG_EVENTS : undefined), what)
}

/** Admin keys are changed as well, though they have no other route here. */
async function keyOfEvents(call: Call): Promise<string | undefined> {
  const id = queried(call, 'key_id', textLike(/^(admin)?key_\w{1,40}$/, 'the id of a key or of an admin key'))
  if (!id?.startsWith('adminkey_')) return (await keyNamed(call, 'key_id'))?.id
  if (await readAdminKey(call.tables)(id)) return id
  throw new AdminError('not_found', `There is no admin key '${id}'.`, { param: 'key_id' })
}

export async function listKeyEvents(call: Call): Promise<Answer> {
  return eventsOf(call, (await keyInPath(call)).id, queried(call, 'what', oneOf(KINDS)))
}

async function eventsOf(call: Call, of: string | undefined, what: string | undefined): Promise<Answer> {
  const limit = limitOf(call)
  const by = queried(call, 'by', textLike(/^.{1,2048}$/, 'who changed it, as events name them'))
  const [after] = readCursor(call, ULID) ?? []
  const fromMs = queried(call, 'from', moment) ?? 0
  const toMs = queried(call, 'to', moment) ?? horizonOf(call.nowMs)
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
  const body: List<EventShape> = {
    object: 'list',
    data: found.map(eventShape),
    has_more: hasMore,
    last_id: read === 0 ? null : cursorOf(last ?? ''),
  }
  return { body }
}

function isOf(event: ChangeEvent, what: string | undefined): boolean {
  const told = TOLD[event.what]
  return what === undefined || told === what || told?.startsWith(`${what}.`) === true
}

function eventShape({ id, atMs, by, what, keyId, before, after }: ChangeEvent): EventShape {
  return {
    object: 'event',
    id,
    at: new Date(atMs).toISOString(),
    by,
    what: TOLD[what] ?? what,
    key_id: keyId ?? null,
    before: fieldsIn(before),
    after: fieldsIn(after),
  }
}

/** None is null. The names are those of the API. */
function fieldsIn(fields: Readonly<Record<string, unknown>>): EventShape['before'] {
  const entries = Object.entries(fields).map(([name, value]) => [
    name.replace(/[A-Z]/g, (sign) => `_${sign.toLowerCase()}`),
    value,
  ])
  return entries.length === 0 ? null : Object.fromEntries(entries)
}
