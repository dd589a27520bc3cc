import { expect, test } from '@jest/globals'
import type { Act } from '../../layers/gateway/domain/keys/act.ts'
import type { ChangeEvent } from '../../layers/gateway/domain/keys/change-event.ts'
import { writeCatalog } from '../../layers/gateway/store/catalog/write-catalog.ts'
import { CATALOG_EVENTS } from '../../layers/gateway/store/events/events.ts'
import { listEvents } from '../../layers/gateway/store/events/list-events.ts'
import { createKey } from '../../layers/gateway/store/keys/create-key.ts'
import { listGrants } from '../../layers/gateway/store/keys/grant-credits.ts'
import { endGrace, revokeKey, rotateKey } from '../../layers/gateway/store/keys/rotate-key.ts'
import { updateKey } from '../../layers/gateway/store/keys/update-key.ts'
import { actAt } from '../support/act.ts'
import { catalogFor, openTestTables } from '../support/gateway.ts'
import { grantCredits } from '../support/grant-credits.ts'
import { ALL_TIME, draft, eventsOf, fresh, issue, NOW, nextSecret, tables } from './support/store.ts'

test('every change of a key leaves one event that says who, when, and what was and is, and no hash of a secret', async () => {
  const key = await issue({}, { credits: 5n * 10n ** 9n })
  const next = nextSecret()
  await updateKey(tables)(key.id, { rpm: 120, note: 'paid' }, actAt(NOW + 1, 'bob'))
  await grantCredits(tables)(key.id, 25n * 10n ** 8n, actAt(NOW + 2, 'cy'))
  await rotateKey(tables)(key.id, next, actAt(NOW + 3, 'ann'))
  await endGrace(tables)(key.id, actAt(NOW + 4, 'ann'))
  await updateKey(tables)(key.id, { note: null }, actAt(NOW + 5, 'ann'))
  await revokeKey(tables)(key.id, actAt(NOW + 6, 'dan'))
  const events = await eventsOf(key.id)
  const [old, now] = [key.current.lastFour, next.lastFour]
  const previous = { previousLastFour: old, previousUntil: '2026-11-15T13:00:00.003Z' }
  expect(events.map(({ atMs, by, what, before, after }) => [atMs - NOW, by, what, before, after])).toEqual([
    [6, 'dan', 'key.revoke', { status: 'active' }, { status: 'revoked' }],
    [5, 'ann', 'key.update', { note: 'paid' }, {}],
    [4, 'ann', 'key.end_grace', previous, {}],
    [3, 'ann', 'key.rotate', { lastFour: old }, { lastFour: now, ...previous }],
    [2, 'cy', 'key.grant', {}, { credits: '2.5' }],
    [1, 'bob', 'key.update', { rpm: 60 }, { rpm: 120, note: 'paid' }],
    [0, 'test', 'key.create', {}, expect.objectContaining({ name: 'test', lastFour: old, credits: '5' })],
  ])
  expect(events.every(({ keyId }) => keyId === key.id)).toBe(true)
  for (const { hash } of [key.current, next]) expect(JSON.stringify(events)).not.toContain(hash)
})

test('settings that are as they shall be are no change, and leave no event', async () => {
  const key = await issue({ allowlist: ['10.0.0.0/8'] })
  const same = { rpm: key.rpm, allowlist: ['10.0.0.0/8'], note: null }
  expect(await updateKey(tables)(key.id, same, actAt(NOW))).toEqual({ changed: true, key, isSame: true })
  expect(await eventsOf(key.id)).toHaveLength(1)
})

test('an act that is sent again is done once, with one event, and is told that it was done', async () => {
  const key = draft()
  const acts: [string, (act: Act) => Promise<object>][] = [
    ['key.create', (act) => createKey(tables)(key, act)],
    ['key.update', (act) => updateKey(tables)(key.id, { rpm: 7 }, act)],
    ['key.grant', (act) => grantCredits(tables)(key.id, 3n, act)],
    ['key.rotate', (act) => rotateKey(tables)(key.id, nextSecret(), act)],
    ['key.revoke', (act) => revokeKey(tables)(key.id, act)],
  ]
  for (const [i, [what, send]] of acts.entries()) {
    const act = actAt(NOW + i)
    const results = [await send(act), await send(act)]
    for (const result of results) expect([what, result]).toEqual([what, expect.objectContaining(done(what))])
  }
  expect((await eventsOf(key.id)).map(({ what }) => what).reverse()).toEqual(acts.map(([what]) => what))
  expect(await fresh(key)).toMatchObject({ version: 4, granted: key.granted + 3n })
  expect(await Array.fromAsync(listGrants(tables)(key.id))).toHaveLength(2)
})

const done = (what: string) => (what === 'key.create' ? { created: true } : { changed: true })

test('of twenty operators who change one key at once, each change has its event, and the last event is how the key is', async () => {
  const key = await issue()
  const rpms = Array.from({ length: 20 }, (_, i) => 100 + i)
  const results = await Promise.allSettled(
    rpms.map((rpm) => updateKey(tables)(key.id, { rpm }, actAt(NOW, `operator ${rpm}`))),
  )
  const made = results.filter(({ status }) => status === 'fulfilled').length
  const events = (await eventsOf(key.id)).filter(({ what }) => what === 'key.update')
  expect(events).toHaveLength(made)
  const after = await fresh(key)
  expect(after.version).toBe(1 + made)
  // Each was decided on what the one before had left: before and after are links of one chain.
  const links = new Map(events.map(({ before, after }) => [before.rpm, after.rpm]))
  let rpm: unknown = key.rpm
  for (let i = 0; i < made; i++) rpm = links.get(rpm)
  expect(rpm).toBe(after.rpm)
})

test('the events of all are found newest first, page by page, over the ends of months', async () => {
  const own = await openTestTables()
  const moments = [Date.UTC(2026, 8, 30), Date.UTC(2026, 9, 1), Date.UTC(2026, 9, 31), NOW, NOW + 5]
  const key = draft()
  await createKey(own)(key, actAt(moments[0]))
  for (const [i, ms] of moments.slice(1).entries()) await updateKey(own)(key.id, { rpm: i + 1 }, actAt(ms))
  await writeCatalog(own)(catalogFor('http://127.0.0.1:1'), actAt(NOW + 6))
  const list = listEvents(own)
  const whole = await Array.fromAsync(list(ALL_TIME))
  expect(whole.map(({ atMs }) => atMs)).toEqual([NOW + 6, ...moments.toReversed()])
  const pages: ChangeEvent[] = []
  for (let after: string | undefined; pages.length < whole.length; after = pages.at(-1)?.id) {
    const next = await list({ ...ALL_TIME, after }).next()
    if (next.done) break
    pages.push(next.value)
  }
  expect(pages).toEqual(whole)
  const since = list({ fromMs: moments[2] as number, toMs: NOW })
  expect((await Array.fromAsync(since)).map(({ atMs }) => atMs)).toEqual([NOW, moments[2]])
  expect((await Array.fromAsync(list({ ...ALL_TIME, of: CATALOG_EVENTS }))).map(({ what }) => what)).toEqual([
    'catalog.push',
  ])
})

test('more events than a page are all found', async () => {
  const own = await openTestTables()
  const key = draft()
  await createKey(own)(key, actAt(NOW))
  for (let i = 1; i <= 120; i++) await grantCredits(own)(key.id, 1n, actAt(NOW + i, 'ann'))
  expect(await Array.fromAsync(listEvents(own)({ ...ALL_TIME, of: key.id }))).toHaveLength(121)
  expect(await Array.fromAsync(listEvents(own)(ALL_TIME))).toHaveLength(121)
})
