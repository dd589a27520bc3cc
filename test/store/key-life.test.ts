import { randomBytes } from 'node:crypto'
import { GetCommand } from '@aws-sdk/lib-dynamodb'
import { marshall } from '@aws-sdk/util-dynamodb'
import { beforeAll, expect, test } from '@jest/globals'
import { itemBytes, writeUnits } from '../../bench/bill/item-size.ts'
import type { Demand } from '../../layers/gateway/domain/admission/admission.ts'
import { type Key, standingOf } from '../../layers/gateway/domain/keys/key.ts'
import type { KeySettings } from '../../layers/gateway/domain/keys/key-settings.ts'
import { issueSecret, KEY_DEFAULTS } from '../../layers/gateway/domain/keys/new-key.ts'
import { takeAdmission } from '../../layers/gateway/store/admission/take-admission.ts'
import type { UpdateInput } from '../../layers/gateway/store/dynamodb/database.ts'
import { keyItem } from '../../layers/gateway/store/keys/key-item.ts'
import { readKey } from '../../layers/gateway/store/keys/read-key.ts'
import { endGrace, rotateKey } from '../../layers/gateway/store/keys/rotate-key.ts'
import { updateKey } from '../../layers/gateway/store/keys/update-key.ts'
import type { OperatorTables } from '../../layers/gateway/store/sdk/operator-tables.ts'
import { issueKey } from '../../local/issue-key.ts'
import { actAt } from '../support/act.ts'
import { openTestTables } from '../support/gateway.ts'
import { requestIdAt } from '../support/request-id.ts'

const NOW = Date.UTC(2026, 10, 15, 12)
const END = NOW + 5_000
let tables: OperatorTables

beforeAll(async () => {
  tables = await openTestTables()
})

async function issue(settings: Partial<KeySettings> = {}): Promise<Key> {
  const all = { ...KEY_DEFAULTS, name: 'test', ...settings }
  return (await issueKey(tables, { settings: all, credits: 1_000n, prefix: 'svc_live_', by: 'test' }, NOW)).key
}

function demandAt(key: Key, nowMs: number, hash = key.current.hash): Demand {
  return { requestId: requestIdAt(nowMs), hash, nowMs, hold: 0n, holdUntilMs: nowMs + 60_000 }
}

const fresh = async ({ id }: Key): Promise<Key> => (await readKey(tables)(id)) as Key
const admit = (key: Key, demand: Demand) => takeAdmission(tables, 'UPDATED_NEW')(key, demand)

test('a key is admitted to the millisecond before it expires, and refused from that millisecond on', async () => {
  const key = await issue({ expiresAtMs: END })
  expect(await admit(key, demandAt(key, END - 1))).toMatchObject({ admitted: true })
  for (const nowMs of [END, END + 1, END + 86_400_000]) {
    expect(await admit(key, demandAt(key, nowMs))).toMatchObject({ admitted: false, why: 'invalid_api_key' })
  }
  expect([END - 1, END].map((nowMs) => standingOf(key, key.current.hash, nowMs))).toEqual(['current', 'expired'])
})

test('a stale copy of a key without an end does not admit it after the end that it was given since', async () => {
  const stale = await issue()
  await updateKey(tables)(stale.id, { expiresAtMs: END }, actAt(NOW))
  expect(await admit(stale, demandAt(stale, END))).toMatchObject({ admitted: false, why: 'invalid_api_key' })
})

test('a copy of a key that had expired does not refuse it after it was extended', async () => {
  const stale = await issue({ expiresAtMs: END })
  await updateKey(tables)(stale.id, { expiresAtMs: null }, actAt(NOW))
  const refused = await admit(stale, demandAt(stale, END))
  expect(refused).toEqual({ admitted: false, key: await fresh(stale), why: undefined })
  expect(await admit(await fresh(stale), demandAt(stale, END))).toMatchObject({ admitted: true })
})

test('the condition of the admission write itself refuses an expired key, whatever the copy of it says', async () => {
  const key = await issue({ expiresAtMs: END })
  const { expiresAtMs: _, ...forgetful } = key
  expect(await admit(forgetful, demandAt(key, END))).toMatchObject({ admitted: false, why: 'invalid_api_key' })
})

test('a secret that is not the key’s is refused and not told that the key has expired', async () => {
  const key = await issue({ expiresAtMs: END })
  expect(standingOf(key, 'another', END)).toBe('refused')
})

test('admission notes the last use of a key, and of its old secret apart from it', async () => {
  const key = await issue()
  expect(key).not.toHaveProperty('lastUsedAtMs')
  const first = await admit(key, demandAt(key, NOW + 1))
  expect(first.key).toMatchObject({ lastUsedAtMs: NOW + 1 })
  const next = issueSecret('svc_live_', randomBytes).stored
  await rotateKey(tables)(key.id, next, actAt(NOW + 2))
  const rotated = await fresh(key)
  expect([rotated.lastUsedAtMs, rotated.previous?.usedAtMs]).toEqual([NOW + 1, undefined])
  const old = await admit(rotated, demandAt(key, NOW + 3))
  expect(old.key?.previous?.usedAtMs).toBe(NOW + 3)
  const after = await admit(old.key as Key, demandAt(key, NOW + 4, next.hash))
  expect(after.key).toMatchObject({ lastUsedAtMs: NOW + 4, previous: { usedAtMs: NOW + 3 } })
  expect(await fresh(key)).toMatchObject({ lastUsedAtMs: NOW + 4, previous: { usedAtMs: NOW + 3 } })
})

test('the use of an old secret is forgotten with it, at the end of grace and at the next rotation', async () => {
  const key = await issue()
  const inGrace = async () => {
    const { hash } = (await fresh(key)).current
    await rotateKey(tables)(key.id, issueSecret('svc_live_', randomBytes).stored, actAt(NOW))
    await admit(await fresh(key), demandAt(key, NOW + 1, hash))
    return (await fresh(key)).previous?.usedAtMs
  }
  expect(await inGrace()).toBe(NOW + 1)
  await rotateKey(tables)(key.id, issueSecret('svc_live_', randomBytes).stored, actAt(NOW + 2))
  expect((await fresh(key)).previous?.usedAtMs).toBeUndefined()
  await endGrace(tables)(key.id, actAt(NOW + 3))
  expect(await inGrace()).toBe(NOW + 1)
})

test('a key without an end, a last use or an external id is read and admitted', async () => {
  const key = await fresh(await issue())
  for (const name of ['lastUsedAtMs', 'expiresAtMs', 'externalId', 'note']) expect(key).not.toHaveProperty(name)
  expect(await admit(key, demandAt(key, NOW))).toMatchObject({ admitted: true, key: { lastUsedAtMs: NOW } })
})

test('the last use costs no further write and no further write unit on a key with 25 requests open', async () => {
  const key = await issue({ maxConcurrent: 200 })
  const writes: UpdateInput[] = []
  const database = {
    ...tables.database,
    updateOnce: (input: UpdateInput) => {
      writes.push(input)
      return tables.database.updateOnce(input)
    },
  }
  let copy = key
  for (let i = 0; i < 25; i++) {
    const result = await takeAdmission({ ...tables, database }, 'UPDATED_NEW')(copy, demandAt(key, NOW + i))
    expect(result.admitted).toBe(true)
    copy = result.key as Key
  }
  expect(writes).toHaveLength(25)
  const { Item = {} } = await tables.client.send(new GetCommand({ TableName: tables.keys, Key: keyItem(key.id) }))
  expect(Item.lastUsedAtMs).toBe(NOW + 24)
  expect(writeUnits(itemBytes(marshall(Item)))).toBe(1)
})
