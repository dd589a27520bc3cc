import { expect, test } from '@jest/globals'
import type { EventShape } from '../../layers/admin/api/shapes/books.ts'
import { EVENT_WORDS } from '../../layers/admin/settings/event-words.ts'
import { SETTING_WORDS } from '../../layers/admin/settings/setting-words.ts'
import { EVENT_NAMES } from '../../layers/gateway/domain/keys/event-names.ts'
import { SETTINGS } from '../../layers/gateway/domain/keys/key-settings.ts'
import { describedTables } from '../support/described-tables.ts'
import { SETTING_SAMPLES } from '../support/setting-samples.ts'
import { openBoth } from '../support/stack.ts'
import { adminOf, once, walk } from './support/admin.ts'
import { goodCalls } from './support/good-calls.ts'

const ACCOUNT = {
  contact_name: 'Ann',
  contact_email: 'ann@acme.example',
  note: 'late',
  notify_below: '2',
  plan: 'gold',
  hides_balance: true,
  shows_statements: true,
}

test('every field that a change of any kind has is called by words, and not by its name in the API', async () => {
  const { gateway } = await openBoth()
  const admin = adminOf(describedTables(gateway.tables))
  for await (const { address, query, sent } of goodCalls(admin, gateway)) await admin.call(address + query, sent)
  const create = async (path: string, body: object) => {
    const { status, body: made } = await admin.call(`POST ${path}`, { body, headers: once() })
    expect([path, status]).toEqual([path, 201])
    return made
  }
  await create(
    '/keys',
    Object.fromEntries(SETTINGS.map((name) => [SETTING_WORDS[name].field, SETTING_SAMPLES[name].told])),
  )
  const { id, version } = await create('/accounts', {
    ...ACCOUNT,
    name: 'full',
    external_id: 'cus_all',
    reference: 'inv',
    credits: '1',
  })
  const key = await gateway.issue()
  await admin.call(`POST /keys/${key.key.id}/adopt`, { body: { account: id }, headers: once() })
  const { version: now } = (await admin.call(`GET /accounts/${id}`)).body
  await admin.call(`PATCH /accounts/${id}`, { body: { plan: null }, headers: { 'if-match': `"${now ?? version}"` } })
  await admin.call('PUT /catalog', {
    body: { ...(await admin.call('GET /catalog')).body.source, note: 'why' },
    headers: { 'if-match': `"${(await admin.call('GET /catalog')).body.version}"` },
  })

  const events = await Array.fromAsync(walk<EventShape>(admin, 'GET /events?limit=100'))
  expect([...new Set(events.map(({ what }) => what))].toSorted()).toEqual(Object.values(EVENT_NAMES).toSorted())
  const fields = new Set(
    events.flatMap(({ before, after }) => [...Object.keys(before ?? {}), ...Object.keys(after ?? {})]),
  )
  expect(fields.size).toBeGreaterThan(SETTINGS.length + 10)
  expect([...fields].filter((field) => !EVENT_WORDS.has(field))).toEqual([])
  expect([...EVENT_WORDS.values()].filter((words) => /_|^[a-z]/.test(words))).toEqual([])
})
