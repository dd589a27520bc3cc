import { randomBytes } from 'node:crypto'
import { describe, expect, test } from '@jest/globals'
import { type AdminKey, newAdminKey } from '../../layers/gateway/domain/keys/admin-key.ts'
import type { Key } from '../../layers/gateway/domain/keys/key.ts'
import type { KeySettings } from '../../layers/gateway/domain/keys/key-settings.ts'
import {
  ADMIN_KEY,
  createAdminKey,
  findAdminKey,
  revokeAdminKey,
  rotateAdminKey,
} from '../../layers/gateway/store/admin-keys/admin-keys.ts'
import { scheduleSweep } from '../../layers/gateway/store/admission/sweep.ts'
import type { Database, Tables } from '../../layers/gateway/store/dynamodb/database.ts'
import { WriteOutcomeUnknown } from '../../layers/gateway/store/dynamodb/transact.ts'
import { listEvents } from '../../layers/gateway/store/events/list-events.ts'
import { findKeysWithEvents, moveEvents } from '../../layers/gateway/store/events/pending-events.ts'
import { findByExternalId } from '../../layers/gateway/store/keys/external-id.ts'
import { keyItem } from '../../layers/gateway/store/keys/key-item.ts'
import { findKeyId } from '../../layers/gateway/store/keys/read-key.ts'
import { endGrace, revokeKey, rotateKey } from '../../layers/gateway/store/keys/rotate-key.ts'
import { readOne } from '../../layers/gateway/store/keys/rotating-item.ts'
import { resumeKey, suspendKey } from '../../layers/gateway/store/keys/suspend-key.ts'
import { updateKey } from '../../layers/gateway/store/keys/update-key.ts'
import { actAt } from '../support/act.ts'
import {
  ALL_TIME,
  admit,
  demandAt,
  eventsOf,
  fresh,
  issue,
  kindsOf,
  NOW,
  nextSecret,
  openLine,
  storedItem,
  tables,
} from './support/store.ts'

/** For a slow machine; an act that is not bounded has 25 seconds. */
const MOST_MS = 10_000

/** A key in its grace period, as it was before and as it is. */
async function issueInGrace(settings?: Partial<KeySettings>): Promise<{ old: Key; key: Key }> {
  const old = await issue(settings)
  await rotateKey(tables)(old.id, nextSecret(), actAt(NOW + 1))
  return { old, key: await fresh(old) }
}

/** As if the process died after the write of the key's item. */
function dying(): Tables {
  const die = () => Promise.reject(new Error('The process is dead.'))
  return { ...tables, database: { ...tables.database, put: die, delete: die, update: die } }
}

const admitBy = (key: Key, hash: string) => admit(key, demandAt(key, NOW, { hash, hold: 1n }))

test.each([
  ['a revoke', revokeKey, 'key.revoke', true],
  ['an end of grace', endGrace, 'key.end_grace', true],
  ['a suspension', suspendKey, 'key.suspend', false],
  ['a resumption', resumeKey, 'key.resume', false],
])('%s is done within its time though every transaction with the key is cancelled', async (_, change, what, ends) => {
  const { line, far } = await openLine()
  const { old, key } = await issueInGrace()
  const before = what === 'key.resume' ? ['key.suspend'] : []
  if (before.length > 0) await suspendKey(tables)(key.id, actAt(NOW + 2))
  let plainWrites = 3
  line.treat = (operation, body) => {
    if (!body.includes(key.id)) return 'answer'
    return operation === 'TransactWriteItems' || (operation === 'UpdateItem' && plainWrites-- > 0)
      ? 'conflict'
      : 'answer'
  }
  const crowdedOut = await updateKey(far)(key.id, { rpm: 1 }, actAt(NOW, 'test', 1_500)).catch((error) => error)
  // Its time may also end while the last try is under way.
  expect(crowdedOut).toBeInstanceOf(Error)
  expect((await fresh(key)).rpm).toBe(key.rpm)
  expect(await change(far)(key.id, actAt(NOW + 3))).toMatchObject({ changed: true, key: await fresh(key) })
  expect(await kindsOf(key)).toEqual([what, ...before, 'key.rotate', 'key.create'])
  expect(await findKeyId(tables)(old.current.hash)).toBe(ends ? undefined : key.id)
  expect((await storedItem(key)).pendingEvents).toBeUndefined()
})

test('a revoke whose process dies after its write holds at once, and is seen among the events of the key and of all', async () => {
  const { old, key } = await issueInGrace({ externalId: 'customer-1' })
  const act = actAt(NOW + 2, 'dan')
  expect(await revokeKey(dying())(key.id, act)).toMatchObject({ changed: true, key: { status: 'revoked' } })
  for (const { hash } of [key.current, old.current]) {
    expect(await findKeyId(tables)(hash)).toBe(key.id)
    expect(await admitBy(key, hash)).toMatchObject({ admitted: false, key: { status: 'revoked' } })
  }
  const revoke = {
    id: act.id,
    by: 'dan',
    atMs: NOW + 2,
    what: 'key.revoke',
    keyId: key.id,
    after: { status: 'revoked' },
  }
  for (const owner of [key.id, undefined]) {
    const events = await Array.fromAsync(listEvents(tables)({ ...ALL_TIME, of: owner }))
    expect(events.filter(({ id }) => id === act.id)).toEqual([expect.objectContaining(revoke)])
  }
  expect(await revokeKey(dying())(key.id, act)).toMatchObject({ changed: true })
  expect(await revokeKey(dying())(key.id, actAt(NOW + 3))).toEqual({ changed: false, why: 'revoked' })
})

test('an event that a dead process has left on a key is moved once, however many move it, and its pointers go', async () => {
  const { old, key } = await issueInGrace({ externalId: 'customer-2' })
  await revokeKey(dying())(key.id, actAt(NOW + 2))
  const before = await eventsOf(key.id)
  await scheduleSweep(tables)(await fresh(key), NOW)
  expect(await Array.fromAsync(findKeysWithEvents(tables)())).toContain(key.id)
  await Promise.all([1, 2, 3].map(() => moveEvents(tables)(key.id, NOW)))
  expect(await eventsOf(key.id)).toEqual(before)
  const all = await Array.fromAsync(listEvents(tables)(ALL_TIME))
  expect(all.filter(({ keyId }) => keyId === key.id)).toEqual(before)
  for (const { hash } of [key.current, old.current]) expect(await findKeyId(tables)(hash)).toBeUndefined()
  expect(await findByExternalId(tables)('customer-2')).toBeUndefined()
  expect((await storedItem(key)).pendingEvents).toBeUndefined()
  expect(await Array.fromAsync(findKeysWithEvents(tables)())).not.toContain(key.id)
})

test('an event that is still on its key has its place among the others, page by page', async () => {
  const { key } = await issueInGrace()
  await endGrace(dying())(key.id, actAt(NOW + 5))
  await updateKey(tables)(key.id, { rpm: 5 }, actAt(NOW + 9))
  const list = listEvents(tables)
  const pages: string[] = []
  for (let after: string | undefined; ; ) {
    const { value, done } = await list({ ...ALL_TIME, of: key.id, after }).next()
    if (done) break
    pages.push(value.what)
    after = value.id
  }
  expect(pages).toEqual(['key.update', 'key.end_grace', 'key.rotate', 'key.create'])
  expect(await Array.fromAsync(list({ of: key.id, fromMs: NOW + 6, toMs: NOW + 9 }))).toHaveLength(1)
})

test('one who moves an event late does not delete a pointer that was made since', async () => {
  const { old, key } = await issueInGrace()
  await endGrace(dying())(key.id, actAt(NOW + 2))
  const late = async (input: Parameters<Tables['database']['delete']>[0]) => {
    await moveEvents(tables)(key.id, NOW)
    await rotateKey(tables)(key.id, old.current, actAt(NOW + 3))
    return tables.database.delete(input)
  }
  await moveEvents({ ...tables, database: { ...tables.database, delete: late } })(key.id, NOW)
  expect((await fresh(key)).current).toEqual(old.current)
  expect(await findKeyId(tables)(old.current.hash)).toBe(key.id)
})

test('a revoke whose answer is lost is done once', async () => {
  const { line, far } = await openLine()
  const key = await issue()
  let losses = 1
  line.treat = (operation) => (operation === 'UpdateItem' && losses-- > 0 ? 'lose the answer' : 'answer')
  expect(await revokeKey(far)(key.id, actAt(NOW + 1))).toEqual({ changed: true, key: await fresh(key) })
  expect([(await fresh(key)).version, await kindsOf(key)]).toEqual([2, ['key.revoke', 'key.create']])
})

test.each<[string, string, boolean]>([
  ['as unknown, where its write is never answered', 'UpdateItem', false],
  ['as done, where only its event cannot be moved', 'PutItem', true],
])('a revoke ends within its time %s', async (_, silent, isDone) => {
  const { line, far } = await openLine()
  const key = await issue()
  line.delay = (operation) => (operation === silent ? new Promise(() => {}) : Promise.resolve())
  const startedMs = Date.now()
  const ended = await revokeKey(far)(key.id, actAt(NOW + 1, 'test', 800)).catch((error: unknown) => error)
  expect(Date.now() - startedMs).toBeLessThan(MOST_MS)
  expect([ended instanceof WriteOutcomeUnknown, (await fresh(key)).status]).toEqual([
    !isDone,
    isDone ? 'revoked' : 'active',
  ])
})

test('a revoke ends as a conflict, where other operators always come first', async () => {
  const key = await issue()
  let rpm = 0
  const updateOnce: Database['updateOnce'] = async (...sent) => {
    rpm += 1
    await updateKey(tables)(key.id, { rpm }, actAt(NOW))
    return tables.database.updateOnce(...sent)
  }
  const busy = { ...tables, database: { ...tables.database, updateOnce } }
  const error = await revokeKey(busy)(key.id, actAt(NOW, 'test', 3_000)).catch((thrown) => thrown)
  // Its time may also end while another operator's change is being made.
  expect(['VersionConflict', 'ServiceError', 'WriteOutcomeUnknown']).toContain((error as Error).constructor.name)
  expect([rpm > 0, (await fresh(key)).status]).toEqual([true, 'active'])
})

test('a suspended key keeps its secrets, is refused, and is as before when it is resumed', async () => {
  const { old, key } = await issueInGrace()
  expect(await suspendKey(tables)(key.id, actAt(NOW + 2))).toMatchObject({
    changed: true,
    key: { status: 'suspended' },
  })
  for (const { hash } of [key.current, old.current]) {
    expect(await findKeyId(tables)(hash)).toBe(key.id)
    expect(await admitBy(key, hash)).toMatchObject({
      admitted: false,
      key: { status: 'suspended' },
      why: 'key_suspended',
    })
  }
  expect(await resumeKey(tables)(key.id, actAt(NOW + 3))).toMatchObject({ changed: true })
  const { version, ...rest } = await fresh(key)
  expect({ ...rest, version: version - 2 }).toEqual(key)
  for (const { hash } of [key.current, old.current]) {
    expect(await admitBy(await fresh(key), hash)).toMatchObject({ admitted: true })
  }
  expect(await kindsOf(key)).toEqual(['key.resume', 'key.suspend', 'key.rotate', 'key.create'])
})

test.each([
  ['suspended', suspendKey],
  ['resumed', resumeKey],
])('a revoked key is not %s', async (_, change) => {
  const key = await issue()
  await revokeKey(tables)(key.id, actAt(NOW + 1))
  expect(await change(tables)(key.id, actAt(NOW + 2))).toEqual({ changed: false, why: 'revoked' })
  expect((await fresh(key)).status).toBe('revoked')
  expect(await kindsOf(key)).toEqual(['key.revoke', 'key.create'])
})

test.each([
  ['a suspension', suspendKey, 'suspended'],
  ['a revoke', revokeKey, 'revoked'],
])('a resumption whose write arrives late does not undo %s that was answered before', async (_, change, status) => {
  const key = await issue()
  await suspendKey(tables)(key.id, actAt(NOW + 1))
  const late: (() => Promise<unknown>)[] = []
  const updateOnce: Database['updateOnce'] = (input) => {
    late.push(() => tables.database.updateOnce(input))
    return Promise.reject(Object.assign(new Error('no answer'), { name: 'TimeoutError' }))
  }
  const slow = { ...tables, database: { ...tables.database, updateOnce } }
  const act = actAt(NOW + 2, 'test', 300)
  await expect(resumeKey(slow)(key.id, act)).rejects.toThrow('did not say')
  expect(await change(tables)(key.id, actAt(NOW + 3))).toMatchObject({ changed: true, key: { status } })
  expect((await Promise.allSettled(late.map((arrive) => arrive()))).map((result) => result.status)).toEqual(
    late.map(() => 'rejected'),
  )
  expect((await fresh(key)).status).toBe(status)
})

describe('an admin key', () => {
  const settings = { name: 'billing', scopes: [], allowlist: ['203.0.113.0/24'], dailyGrant: 5n }
  async function make(): Promise<AdminKey> {
    const key = newAdminKey({ settings, stored: nextSecret() }, NOW, randomBytes(10))
    await createAdminKey(tables)(key, actAt(NOW))
    return key
  }

  test('is revoked though every transaction with it is cancelled', async () => {
    const { line, far } = await openLine()
    const key = await make()
    await rotateAdminKey(tables)(key.id, nextSecret(), actAt(NOW + 1))
    const { current } = (await readOne(tables, ADMIN_KEY)(key.id)) as AdminKey
    line.treat = (operation) => (operation === 'TransactWriteItems' ? 'conflict' : 'answer')
    expect(await revokeAdminKey(far)(key.id, actAt(NOW + 2))).toMatchObject({
      changed: true,
      key: { status: 'revoked' },
    })
    for (const { hash } of [key.current, current]) expect(await findAdminKey(tables)(hash)).toBeUndefined()
    expect(await kindsOf(key)).toEqual(['admin_key.revoke', 'admin_key.rotate', 'admin_key.create'])
    expect(await Array.fromAsync(findKeysWithEvents(tables)())).not.toContain(key.id)
  })

  test('whose revoke dies after its write is refused, its event is seen, and the next revoke finishes the first', async () => {
    const key = await make()
    await revokeAdminKey(dying())(key.id, actAt(NOW + 1, 'dan'))
    expect(await findAdminKey(tables)(key.current.hash)).toMatchObject({ status: 'revoked' })
    expect(await kindsOf(key)).toEqual(['admin_key.revoke', 'admin_key.create'])
    const all = async () =>
      (await Array.fromAsync(listEvents(tables)(ALL_TIME))).filter(({ keyId }) => keyId === key.id)
    expect((await all()).map(({ by }) => by)).toEqual(['dan', 'test'])
    expect(await revokeAdminKey(tables)(key.id, actAt(NOW + 2))).toEqual({ changed: false, why: 'revoked' })
    expect(await findAdminKey(tables)(key.current.hash)).toBeUndefined()
    expect(await Array.fromAsync(findKeysWithEvents(tables)())).not.toContain(key.id)
    expect((await all()).map(({ by }) => by)).toEqual(['dan', 'test'])
  })
})

describe('an entry on a key’s item that no operator can have left', () => {
  const id = actAt(NOW + 5).id
  const good = {
    sk: id,
    at: new Date(NOW + 5).toISOString(),
    by: 'dan',
    what: 'key.suspend',
    before: {},
    after: {},
    pointers: [],
  }
  const pointer = (pk: string, sk: string) => ({ ...good, what: 'key.revoke', pointers: [{ pk, sk }] })
  const leave = ({ id: keyId }: Key, pendingEvents: unknown) =>
    tables.database.update({
      TableName: tables.keys,
      Key: keyItem(keyId),
      UpdateExpression: 'SET pendingEvents = :kept, sweepAt = :atOnce, id = :other',
      ExpressionAttributeValues: { ':kept': pendingEvents, ':atOnce': '0', ':other': 'key_other' },
    })

  test.each<[string, unknown]>([
    ['of another kind', { ...good, what: 'key.grant' }],
    ['of an admin key', { ...good, what: 'admin_key.revoke' }],
    ['of another time than its id', { ...good, at: new Date(NOW).toISOString() }],
    ['without an id', { ...good, sk: 'CATALOG' }],
    ['without an author', { ...good, by: undefined }],
    ['that would delete an event', pointer('EVENT#key_1', id)],
    ['that would delete a key', pointer('KEY#key_1', 'KEY')],
    ['that is no event', 'x'],
  ])('%s is listed nowhere, moved nowhere, and reported once by the sweep', async (_, entry) => {
    const key = await issue()
    await leave(key, [entry, { ...good, sk: actAt(NOW + 6).id, at: new Date(NOW + 6).toISOString() }])
    expect(await kindsOf(key)).toEqual(['key.suspend', 'key.create'])
    await moveEvents(tables)(key.id, NOW)
    expect((await storedItem(key)).pendingEvents).toBeDefined()
    const reported: number[] = []
    for (let sweep = 0; sweep < 2; sweep++) {
      await moveEvents(tables, (forged) => reported.push(forged))(key.id, NOW)
    }
    expect([await kindsOf(key), reported]).toEqual([['key.suspend', 'key.create'], [1]])
    expect((await storedItem(key)).pendingEvents).toBeUndefined()
  })

  test('deletes no pointer that the key still has', async () => {
    const key = await issue({ externalId: 'customer-3' })
    await leave(key, [
      pointer(`HASH#${key.current.hash}`, 'HASH'),
      { ...pointer('EXTERNAL#customer-3', 'EXTERNAL'), sk: actAt(NOW + 5).id },
    ])
    await moveEvents(tables)(key.id, NOW)
    expect(await findKeyId(tables)(key.current.hash)).toBe(key.id)
    expect(await findByExternalId(tables)('customer-3')).toBe(key.id)
  })

  test('cannot take the place of the event of an act that is being done', async () => {
    const key = await issue()
    const act = actAt(NOW + 1, 'dan')
    const get = async (input: Parameters<Tables['database']['get']>[0]) => {
      if ((await storedItem(key)).pendingEvents)
        await leave(key, [{ ...good, sk: act.id, at: new Date(NOW + 1).toISOString(), by: 'eve' }])
      return tables.database.get(input)
    }
    await suspendKey({ ...tables, database: { ...tables.database, get } })(key.id, act)
    const [event] = await eventsOf(key.id)
    expect(event).toMatchObject({ id: act.id, by: 'dan', what: 'key.suspend' })
  })
})
