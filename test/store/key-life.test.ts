import { marshall } from '@aws-sdk/util-dynamodb'
import { expect, test } from '@jest/globals'
import { writeUnits } from '../../bench/bill/bill.ts'
import type { Key } from '../../layers/gateway/domain/keys/key.ts'
import { takeAdmission } from '../../layers/gateway/store/admission/take-admission.ts'
import type { UpdateInput } from '../../layers/gateway/store/dynamodb/database.ts'
import { keyItem } from '../../layers/gateway/store/keys/key-item.ts'
import { endGrace, rotateKey } from '../../layers/gateway/store/keys/rotate-key.ts'
import { updateKey } from '../../layers/gateway/store/keys/update-key.ts'
import { actAt } from '../support/act.ts'
import { itemBytes } from '../support/item-bytes.ts'
import { admit, demandAt, fresh, issue, NOW, nextSecret, tables } from './support/store.ts'

const END = NOW + 5_000

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

test('admission notes the last use of a key, and of its old secret apart from it', async () => {
  const key = await issue()
  expect(key).not.toHaveProperty('lastUsedAtMs')
  const first = await admit(key, demandAt(key, NOW + 1))
  expect(first.key).toMatchObject({ lastUsedAtMs: NOW + 1 })
  const next = nextSecret()
  await rotateKey(tables)(key.id, next, actAt(NOW + 2))
  const rotated = await fresh(key)
  expect([rotated.lastUsedAtMs, rotated.previous?.usedAtMs]).toEqual([NOW + 1, undefined])
  const old = await admit(rotated, demandAt(key, NOW + 3))
  expect(old.key?.previous?.usedAtMs).toBe(NOW + 3)
  const after = await admit(old.key as Key, demandAt(key, NOW + 4, { hash: next.hash }))
  expect(after.key).toMatchObject({ lastUsedAtMs: NOW + 4, previous: { usedAtMs: NOW + 3 } })
  expect(await fresh(key)).toMatchObject({ lastUsedAtMs: NOW + 4, previous: { usedAtMs: NOW + 3 } })
})

test('the use of an old secret is forgotten with it, at the end of grace and at the next rotation', async () => {
  const key = await issue()
  const inGrace = async () => {
    const { hash } = (await fresh(key)).current
    await rotateKey(tables)(key.id, nextSecret(), actAt(NOW))
    await admit(await fresh(key), demandAt(key, NOW + 1, { hash }))
    return (await fresh(key)).previous?.usedAtMs
  }
  expect(await inGrace()).toBe(NOW + 1)
  await rotateKey(tables)(key.id, nextSecret(), actAt(NOW + 2))
  expect((await fresh(key)).previous?.usedAtMs).toBeUndefined()
  await endGrace(tables)(key.id, actAt(NOW + 3))
  expect(await inGrace()).toBe(NOW + 1)
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
  const { Item = {} } = await tables.database.get({ TableName: tables.keys, Key: keyItem(key.id) })
  expect(Item.lastUsedAtMs).toBe(NOW + 24)
  expect(writeUnits(itemBytes(marshall(Item)))).toBe(1)
})
