import { randomBytes } from 'node:crypto'
import { beforeAll, expect, test } from '@jest/globals'
import type { Key } from '../../layers/gateway/domain/key.ts'
import { issueSecret, KEY_DEFAULTS } from '../../layers/gateway/domain/new-key.ts'
import { scheduleSweep } from '../../layers/gateway/store/admission/sweep.ts'
import { takeAdmission } from '../../layers/gateway/store/admission/take-admission.ts'
import { listEvents } from '../../layers/gateway/store/events/list-events.ts'
import { findKeysWithEvents, moveEvents } from '../../layers/gateway/store/events/pending-events.ts'
import { VersionConflict } from '../../layers/gateway/store/keys/change-key.ts'
import { findByExternalId } from '../../layers/gateway/store/keys/external-id.ts'
import { keyItem } from '../../layers/gateway/store/keys/key-item.ts'
import { findKeyId, readKey } from '../../layers/gateway/store/keys/read-key.ts'
import { endGrace, revokeKey, rotateKey } from '../../layers/gateway/store/keys/rotate-key.ts'
import { updateKey } from '../../layers/gateway/store/keys/update-key.ts'
import { type OperatorTables, openOperatorTables } from '../../layers/gateway/store/operator-tables.ts'
import { WriteOutcomeUnknown, wasTransactionRejected } from '../../layers/gateway/store/transact.ts'
import { issueKey } from '../../operator/connect/issue-key.ts'
import { actAt } from '../support/act.ts'
import { openTestTables } from '../support/gateway.ts'
import { requestIdAt } from '../support/request-id.ts'
import { startUnreliableDynamoDb } from '../support/unreliable-dynamodb.ts'

const NOW = Date.UTC(2026, 10, 15, 12)
const ALL = { fromMs: 0, toMs: NOW + 1_000_000 }
const MOST_MS = 2_000
let tables: OperatorTables

beforeAll(async () => {
  tables = await openTestTables()
})

const nextSecret = () => issueSecret('svc_live_', randomBytes).stored
const fresh = async ({ id }: Key): Promise<Key> => (await readKey(tables)(id)) as Key
const eventsOf = async ({ id: of }: Key) =>
  (await Array.fromAsync(listEvents(tables)({ ...ALL, of }))).map(({ what }) => what)

async function issue(externalId?: string): Promise<Key> {
  const settings = { ...KEY_DEFAULTS, name: 'test', ...(externalId && { externalId }) }
  return (await issueKey(tables, { settings, credits: 5n, prefix: 'svc_live_', by: 'test' }, NOW)).key
}

/** A key in its grace period, as it was before and as it is. */
async function issueInGrace(externalId?: string): Promise<{ old: Key; key: Key }> {
  const old = await issue(externalId)
  await rotateKey(tables)(old.id, nextSecret(), actAt(NOW + 1))
  return { old, key: await fresh(old) }
}

async function storedItem({ id }: Key) {
  return (await tables.database.get({ TableName: tables.keys, Key: keyItem(id), ConsistentRead: true })).Item ?? {}
}

/** As if the process died after the write of the key's item. */
function dying(): OperatorTables {
  const die = () => Promise.reject(new Error('The process is dead.'))
  return { ...tables, database: { ...tables.database, put: die, delete: die, update: die } }
}

function openLine(endpoint: string): OperatorTables {
  const names = { keysTable: tables.keys, usageTable: tables.usage, answersTable: tables.answers }
  return openOperatorTables(names, { endpoint })
}

const admit = (key: Key, hash: string) =>
  takeAdmission(tables)(key, { requestId: requestIdAt(NOW), hash, nowMs: NOW, hold: 1n, holdUntilMs: NOW + 1 })

test.each([
  ['a revoke', revokeKey, 'key.revoke'],
  ['an end of grace', endGrace, 'key.end_grace'],
])('%s is done within its time though every transaction with the key is cancelled', async (_, change, what) => {
  await using line = await startUnreliableDynamoDb(process.env.TEST_DYNAMODB ?? '')
  const hot = openLine(line.endpoint)
  const { old, key } = await issueInGrace()
  let plainWrites = 3
  line.treat = (operation, body) => {
    if (!body.includes(key.id)) return 'answer'
    return operation === 'TransactWriteItems' || (operation === 'UpdateItem' && plainWrites-- > 0)
      ? 'conflict'
      : 'answer'
  }
  const crowdedOut = await updateKey(hot)(key.id, { rpm: 1 }, actAt(NOW, 'test', 1_500)).catch((error) => error)
  expect(wasTransactionRejected(crowdedOut)).toBe(true)
  expect(await change(hot)(key.id, actAt(NOW + 2))).toEqual({ changed: true, key: await fresh(key) })
  expect(await eventsOf(key)).toEqual([what, 'key.rotate', 'key.create'])
  expect(await findKeyId(tables)(old.current.hash)).toBeUndefined()
  expect((await storedItem(key)).pendingEvents).toBeUndefined()
  hot.client.destroy()
})

test('a revoke whose process dies after its write holds at once, and is seen among the events of the key and of all', async () => {
  const { old, key } = await issueInGrace('customer-1')
  const act = actAt(NOW + 2, 'dan')
  expect(await revokeKey(dying())(key.id, act)).toMatchObject({ changed: true, key: { status: 'revoked' } })
  for (const { hash } of [key.current, old.current]) {
    expect(await findKeyId(tables)(hash)).toBe(key.id)
    expect(await admit(key, hash)).toMatchObject({ admitted: false, key: { status: 'revoked' } })
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
    const events = await Array.fromAsync(listEvents(tables)({ ...ALL, of: owner }))
    expect(events.filter(({ id }) => id === act.id)).toEqual([expect.objectContaining(revoke)])
  }
  expect(await revokeKey(dying())(key.id, act)).toMatchObject({ changed: true })
  expect(await revokeKey(dying())(key.id, actAt(NOW + 3))).toEqual({ changed: false, why: 'revoked' })
})

test('an event that a dead process has left on a key is moved once, however many move it, and its pointers go', async () => {
  const { old, key } = await issueInGrace('customer-2')
  await revokeKey(dying())(key.id, actAt(NOW + 2))
  const before = await Array.fromAsync(listEvents(tables)({ ...ALL, of: key.id }))
  await scheduleSweep(tables)(await fresh(key))
  expect(await Array.fromAsync(findKeysWithEvents(tables)())).toContain(key.id)
  await Promise.all([1, 2, 3].map(() => moveEvents(tables)(key.id, NOW)))
  expect(await Array.fromAsync(listEvents(tables)({ ...ALL, of: key.id }))).toEqual(before)
  const all = await Array.fromAsync(listEvents(tables)(ALL))
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
    const { value, done } = await list({ ...ALL, of: key.id, after }).next()
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
  const late = async (input: Parameters<OperatorTables['database']['delete']>[0]) => {
    await moveEvents(tables)(key.id, NOW)
    await rotateKey(tables)(key.id, old.current, actAt(NOW + 3))
    return tables.database.delete(input)
  }
  await moveEvents({ ...tables, database: { ...tables.database, delete: late } })(key.id, NOW)
  expect((await fresh(key)).current).toEqual(old.current)
  expect(await findKeyId(tables)(old.current.hash)).toBe(key.id)
})

test('a revoke whose answer is lost is done once', async () => {
  await using line = await startUnreliableDynamoDb(process.env.TEST_DYNAMODB ?? '')
  const unreliable = openLine(line.endpoint)
  const key = await issue()
  let losses = 1
  line.treat = (operation) => (operation === 'UpdateItem' && losses-- > 0 ? 'lose the answer' : 'answer')
  expect(await revokeKey(unreliable)(key.id, actAt(NOW + 1))).toEqual({ changed: true, key: await fresh(key) })
  expect([(await fresh(key)).version, await eventsOf(key)]).toEqual([2, ['key.revoke', 'key.create']])
  unreliable.client.destroy()
})

test.each<[string, string, boolean]>([
  ['as unknown, where its write is never answered', 'UpdateItem', false],
  ['as done, where only its event cannot be moved', 'PutItem', true],
])('a revoke ends within its time %s', async (_, silent, isDone) => {
  await using line = await startUnreliableDynamoDb(process.env.TEST_DYNAMODB ?? '')
  const slow = openLine(line.endpoint)
  const key = await issue()
  line.delay = (operation) => (operation === silent ? new Promise(() => {}) : Promise.resolve())
  const startedMs = Date.now()
  const ended = await revokeKey(slow)(key.id, actAt(NOW + 1, 'test', 800)).catch((error: unknown) => error)
  expect(Date.now() - startedMs).toBeLessThan(MOST_MS)
  expect([ended instanceof WriteOutcomeUnknown, (await fresh(key)).status]).toEqual([
    !isDone,
    isDone ? 'revoked' : 'active',
  ])
  slow.client.destroy()
})

test('a revoke ends as a conflict, where other operators always come first', async () => {
  const key = await issue()
  let rpm = 0
  const send = async (command: object, options: object) => {
    rpm += 1
    await updateKey(tables)(key.id, { rpm }, actAt(NOW))
    return tables.onceClient.send(command as never, options)
  }
  const error = await revokeKey({ ...tables, onceClient: { send } as never })(key.id, actAt(NOW, 'test', 500)).catch(
    (thrown) => thrown,
  )
  // Its time may also end while another operator's change is being made.
  const isToldSo = error instanceof VersionConflict || (error as Error).name === 'TimeoutError'
  expect([isToldSo, rpm > 2, (await fresh(key)).status]).toEqual([true, true, 'active'])
})
