import { randomBytes } from 'node:crypto'
import { beforeAll, expect, test } from '@jest/globals'
import type { Key } from '../../layers/gateway/domain/keys/key.ts'
import { issueSecret, KEY_DEFAULTS, newKey } from '../../layers/gateway/domain/keys/new-key.ts'
import { createKey } from '../../layers/gateway/store/keys/create-key.ts'
import { findByExternalId } from '../../layers/gateway/store/keys/external-id.ts'
import { readKey } from '../../layers/gateway/store/keys/read-key.ts'
import { revokeKey } from '../../layers/gateway/store/keys/rotate-key.ts'
import { updateKey } from '../../layers/gateway/store/keys/update-key.ts'
import type { OperatorTables } from '../../layers/gateway/store/sdk/operator-tables.ts'
import { actAt } from '../support/act.ts'
import { openTestTables } from '../support/gateway.ts'

const NOW = Date.UTC(2026, 10, 15, 12)
let tables: OperatorTables

beforeAll(async () => {
  tables = await openTestTables()
})

function draft(externalId?: string): Key {
  const settings = { ...KEY_DEFAULTS, name: 'test', externalId }
  const { stored } = issueSecret('svc_live_', randomBytes)
  return newKey({ settings, credits: 0n, prefix: 'svc_live_', stored }, NOW, randomBytes(10))
}

async function create(externalId?: string): Promise<Key> {
  const key = draft(externalId)
  expect(await createKey(tables)(key, actAt(NOW))).toEqual({ created: true })
  return key
}

const owner = (externalId: string) => findByExternalId(tables)(externalId)

test('of 50 keys made at once with one external id, one is made, and the others are told whose it is', async () => {
  const drafts = Array.from({ length: 50 }, () => draft('cus_race'))
  const results = await Promise.all(drafts.map((key) => createKey(tables)(key, actAt(NOW))))
  const made = drafts.filter((_, i) => results[i]?.created)
  expect(made).toHaveLength(1)
  const ownerId = made[0]?.id
  expect(results.filter(({ created }) => !created)).toEqual(Array(49).fill({ created: false, ownerId }))
  expect(await owner('cus_race')).toBe(ownerId)
  const saved = await Promise.all(drafts.map(({ id }) => readKey(tables)(id)))
  expect(saved.filter(Boolean)).toHaveLength(1)
})

test('an external id moves with an update, and the one before is free at once', async () => {
  const key = await create('cus_a')
  await updateKey(tables)(key.id, { externalId: 'cus_b' }, actAt(NOW))
  expect([await owner('cus_a'), await owner('cus_b')]).toEqual([undefined, key.id])
  await updateKey(tables)(key.id, { externalId: null }, actAt(NOW))
  expect(await owner('cus_b')).toBeUndefined()
  expect(await readKey(tables)(key.id)).not.toHaveProperty('externalId')
  expect((await create('cus_b')).externalId).toBe('cus_b')
})

test('an update to an external id that another key has changes nothing', async () => {
  const [first, second] = [await create('cus_c'), await create()]
  const update = { externalId: 'cus_c', rpm: 7 }
  expect(await updateKey(tables)(second.id, update, actAt(NOW))).toEqual({ changed: false, why: 'external_id_taken' })
  expect(await readKey(tables)(second.id)).toEqual(second)
  expect(await owner('cus_c')).toBe(first.id)
})

test('an external id of a revoked key can be given to the next one', async () => {
  const gone = await create('cus_d')
  await revokeKey(tables)(gone.id, actAt(NOW))
  expect(await owner('cus_d')).toBeUndefined()
  const next = await create('cus_d')
  expect(await owner('cus_d')).toBe(next.id)
})
