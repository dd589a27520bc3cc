import { UpdateCommand } from '@aws-sdk/lib-dynamodb'
import { beforeAll, expect, test } from '@jest/globals'
import { createSweep } from '../../functions/sweep/create.ts'
import { keyItem } from '../../layers/gateway/store/keys/key-item.ts'
import { booksBalance, HELLO, type TestGateway } from '../support/gateway.ts'
import { requestIdAt } from '../support/request-id.ts'
import { openBoth } from '../support/stack.ts'

// Versions before 0.2 kept a hold as { amount, untilMs } under the request's id, in a map.

const NOW = Date.UTC(2026, 10, 15, 12)
const HOLD = 900_000n
let nowMs = NOW
let gateway: TestGateway
beforeAll(async () => {
  ;({ gateway } = await openBoth({ clock: () => nowMs }))
})

/** A key as such a version left it, with this many requests under way. */
async function keyWithOldHolds(count: number, settings = {}) {
  const issued = await gateway.issue({ rpm: 60_000, ...settings })
  const ids = Array.from({ length: count }, () => requestIdAt(NOW))
  for (const id of ids) {
    await gateway.tables.client.send(
      new UpdateCommand({
        TableName: gateway.tables.keys,
        Key: keyItem(issued.key.id),
        UpdateExpression: 'SET holds.#id = :hold, available = available - :amount, sweepAt = :sweepAt',
        ExpressionAttributeNames: { '#id': id },
        ExpressionAttributeValues: {
          ':hold': { amount: HOLD, untilMs: NOW + 960_000 },
          ':amount': HOLD,
          ':sweepAt': new Date(NOW + 960_000).toISOString(),
        },
      }),
    )
  }
  return { ...issued, ids }
}

test('a hold that an older version took is read, counts as held, and the books balance', async () => {
  const { key, ids } = await keyWithOldHolds(2)
  const read = await gateway.readKey(key.id)
  expect(Object.keys(read.holds).sort()).toEqual([...ids].sort())
  expect(Object.values(read.holds)).toEqual([1, 2].map(() => expect.objectContaining({ amount: HOLD })))
  expect(booksBalance(read)).toBe(true)
})

test('requests that an older version has under way count against the limit of parallel requests', async () => {
  nowMs = NOW
  const { secret, key } = await keyWithOldHolds(2, { maxConcurrent: 3 })
  expect((await gateway.post(secret, HELLO)).status).toBe(200)
  const full = await keyWithOldHolds(3, { maxConcurrent: 3 })
  const refused = await gateway.post(full.secret, HELLO)
  expect([refused.status, await refused.json()]).toEqual([
    429,
    expect.objectContaining({ error: expect.objectContaining({ code: 'concurrency_limit_exceeded' }) }),
  ])
  const all = await Promise.all(Array.from({ length: 20 }, () => gateway.post(secret, HELLO)))
  expect(all.filter(({ status }) => status === 200).length).toBeGreaterThan(0)
  expect(booksBalance(await gateway.readKey(key.id))).toBe(true)
})

test('a request of an older version that died is finished by the sweep, and its hold is given back once', async () => {
  const { key, ids } = await keyWithOldHolds(2)
  nowMs = NOW + 960_000
  const sweep = createSweep(gateway.instance)
  await Promise.all([sweep(), sweep()])
  const after = await gateway.readKey(key.id)
  expect(after).toMatchObject({ holds: {}, available: after.granted, spent: 0n })
  for (const id of ids) expect(await gateway.readRow(id)).toMatchObject({ outcome: 'abandoned', hold: HOLD, cost: 0n })
  nowMs = NOW
})

test('old and new holds of one key are under way together, and the books balance', async () => {
  const { key, secret } = await keyWithOldHolds(2)
  expect((await gateway.post(secret, HELLO)).status).toBe(200)
  const after = await gateway.readKey(key.id)
  expect(after.spent).toBeGreaterThan(0n)
  expect(Object.keys(after.holds)).toHaveLength(2)
  expect(booksBalance(after)).toBe(true)
})
