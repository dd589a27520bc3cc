import { expect, test } from '@jest/globals'
import { createKey } from '../../layers/gateway/store/keys/create-key.ts'
import { findByExternalId } from '../../layers/gateway/store/keys/external-id.ts'
import { revokeKey } from '../../layers/gateway/store/keys/rotate-key.ts'
import { updateKey } from '../../layers/gateway/store/keys/update-key.ts'
import { actAt } from '../support/act.ts'
import { draft, fresh, issue, NOW, tables } from './support/store.ts'

const owner = (externalId: string) => findByExternalId(tables)(externalId)

test('of 50 keys made at once with one external id, one is made, and the others are told whose it is', async () => {
  const drafts = Array.from({ length: 50 }, () => draft({ externalId: 'cus_race' }))
  const results = await Promise.all(drafts.map((key) => createKey(tables)(key, actAt(NOW))))
  const made = drafts.filter((_, i) => results[i]?.created)
  expect(made).toHaveLength(1)
  const ownerId = made[0]?.id
  expect(results.filter(({ created }) => !created)).toEqual(Array(49).fill({ created: false, ownerId }))
  expect(await owner('cus_race')).toBe(ownerId)
  const saved = await Promise.all(drafts.map(fresh))
  expect(saved.filter(Boolean)).toHaveLength(1)
})

test('an external id moves with an update, and the one before is free at once', async () => {
  const key = await issue({ externalId: 'cus_a' })
  await updateKey(tables)(key.id, { externalId: 'cus_b' }, actAt(NOW))
  expect([await owner('cus_a'), await owner('cus_b')]).toEqual([undefined, key.id])
  await updateKey(tables)(key.id, { externalId: null }, actAt(NOW))
  expect(await owner('cus_b')).toBeUndefined()
  expect(await fresh(key)).not.toHaveProperty('externalId')
  expect((await issue({ externalId: 'cus_b' })).externalId).toBe('cus_b')
})

test('an update to an external id that another key has changes nothing', async () => {
  const [first, second] = [await issue({ externalId: 'cus_c' }), await issue()]
  const update = { externalId: 'cus_c', rpm: 7 }
  expect(await updateKey(tables)(second.id, update, actAt(NOW))).toEqual({ changed: false, why: 'external_id_taken' })
  expect(await fresh(second)).toEqual(second)
  expect(await owner('cus_c')).toBe(first.id)
})

test('an external id of a revoked key can be given to the next one', async () => {
  const gone = await issue({ externalId: 'cus_d' })
  await revokeKey(tables)(gone.id, actAt(NOW))
  expect(await owner('cus_d')).toBeUndefined()
  const next = await issue({ externalId: 'cus_d' })
  expect(await owner('cus_d')).toBe(next.id)
})
