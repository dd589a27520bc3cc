import { describe, expect, test } from '@jest/globals'
import type { Demand } from '../../layers/gateway/domain/admission/admission.ts'
import { limitsOf } from '../../layers/gateway/domain/admission/limits.ts'
import { DAY_MS, HOUR_MS, MINUTE_MS } from '../../layers/gateway/domain/basics/time.ts'
import type { Key } from '../../layers/gateway/domain/keys/key.ts'
import type { KeySettings } from '../../layers/gateway/domain/keys/key-settings.ts'
import { releaseHold } from '../../layers/gateway/store/admission/release-hold.ts'
import { takeAdmission } from '../../layers/gateway/store/admission/take-admission.ts'
import { updateKey } from '../../layers/gateway/store/keys/update-key.ts'
import { actAt } from '../support/act.ts'
import { booksBalance } from '../support/gateway.ts'
import { demandAt, fresh, issue, NOW, tables } from './support/store.ts'

/** As the gateway does it: a refusal that brings a fresh key is tried once more with that key. */
async function enter(key: Key, wanted: Demand): Promise<boolean> {
  const take = takeAdmission(tables)
  const first = await take(key, wanted)
  if (first.admitted || !first.key) return first.admitted === true
  return (await take(first.key, wanted)).admitted === true
}

/** The number that is admitted of so many requests at once by one copy of the key. */
async function race(key: Key, count: number, nowMs = NOW, hold = 0n): Promise<number> {
  const demands = Array.from({ length: count }, () => demandAt(key, nowMs, { hold }))
  return (await Promise.all(demands.map((demand) => enter(key, demand)))).filter(Boolean).length
}

test.each<[string, number, Partial<KeySettings>, afterMs: number, more: number]>([
  ['60 requests a minute', 60, { rpm: 60 }, 1_000, 1],
  ['25 requests a day', 25, { rpm: 60_000, dailyLimit: 25 }, DAY_MS, 25],
  ['7 requests at once', 7, { rpm: 60_000, maxConcurrent: 7 }, 1_000, 0],
  ['credit for 10 holds', 10, { rpm: 60_000 }, 1_000, 0],
])(
  'a key limited to %s admits exactly %i of 200 at once, and no more before its time',
  async (_, count, settings, afterMs, more) => {
    const key = await issue(settings, { credits: 10_000n })
    const hold = count === 10 ? 1_000n : 0n
    expect(await race(key, 200, NOW, hold)).toBe(count)
    expect(await race(await fresh(key), 50, NOW + Math.min(afterMs, 1_000) - 1, hold)).toBe(0)
    expect(await race(await fresh(key), 50, NOW + afterMs, hold)).toBe(more)
    expect(booksBalance(await fresh(key))).toBe(true)
  },
)

test('a request that asks for admission again takes nothing a second time', async () => {
  const key = await issue()
  const wanted = demandAt(key, NOW, { hold: 500n })
  const results = await Promise.all([1, 2, 3].map(() => takeAdmission(tables)(key, wanted)))
  expect(results.filter((result) => result.admitted)).toHaveLength(1)
  expect((await takeAdmission(tables)(await fresh(key), wanted)).admitted).toBe(false)
  const after = await fresh(key)
  expect(after.available).toBe(1_000_000n - 500n)
  expect(Object.keys(after.holds)).toEqual([wanted.requestId])
  expect(limitsOf(after, NOW).daily.remaining).toBe(9_999)
})

test('a cached copy of a key that has changed admits nothing, and the refusal brings the new key', async () => {
  const stale = await issue({ rpm: 100 })
  await updateKey(tables)(stale.id, { rpm: 1 }, actAt())
  const refused = await takeAdmission(tables)(stale, demandAt(stale))
  expect(refused).toMatchObject({ admitted: false, key: { rpm: 1, version: 2 } })
})

test('an unexpected DynamoDB error is thrown, never taken for a refusal', async () => {
  const key = await issue()
  await expect(takeAdmission({ ...tables, keys: 'no-such-table' })(key, demandAt(key))).rejects.toThrow()
})

describe('clocks that disagree', () => {
  test('two clocks that are 2 s apart admit the limit and the refill of 2 s, and no more', async () => {
    const key = await issue({ rpm: 60 })
    expect(await race(key, 40, NOW)).toBe(40)
    // 2 s ahead there are 20 left and 2 refilled; the one behind finds none.
    expect(await race(await fresh(key), 40, NOW + 2_000)).toBe(22)
    expect(await race(await fresh(key), 20, NOW)).toBe(0)
  })

  test('a clock that steps back 10 s refills nothing and locks out no key that has requests left', async () => {
    const key = await issue({ rpm: 60 })
    expect(await race(key, 5, NOW)).toBe(5)
    expect(await race(await fresh(key), 60, NOW - 10_000)).toBe(45)
  })

  test.each([
    ['two minutes', 2 * MINUTE_MS],
    ['an hour', HOUR_MS],
  ])(
    'a clock that is %s ahead leaves the others one request and the refill, and does not lock them out',
    async (_, aheadMs) => {
      const key = await issue({ rpm: 60 })
      expect(await race(key, 3, NOW + aheadMs)).toBe(3)
      const after = await fresh(key)
      expect(limitsOf(after, NOW).rpm.remaining).toBe(1)
      expect(await race(after, 20, NOW)).toBe(1)
      expect(await race(await fresh(key), 20, NOW + 5_000)).toBe(5)
      // The clock that was wrong finds a full bucket once more, at most.
      expect(await race(await fresh(key), 80, NOW + aheadMs)).toBe(60)
    },
  )

  test('a clock that is an hour ahead, into tomorrow, counts every request on one day, and no day twice', async () => {
    const key = await issue({ rpm: 60_000, dailyLimit: 5 })
    const midnight = NOW - (NOW % DAY_MS) + DAY_MS
    const beforeMidnight = midnight - 1_000
    expect(await race(key, 3, beforeMidnight)).toBe(3)
    expect(await race(await fresh(key), 2, beforeMidnight + HOUR_MS)).toBe(2)
    expect(await race(await fresh(key), 1, beforeMidnight)).toBe(1)
    expect(await race(await fresh(key), 9, beforeMidnight + 500)).toBe(1)
    expect(await race(await fresh(key), 9, midnight + HOUR_MS)).toBe(3)
  })
})

test('balances beyond 2^53 nanocredits stay exact', async () => {
  const key = await issue({}, { credits: 10n ** 24n + 7n })
  const wanted = demandAt(key, NOW, { hold: 10n ** 20n + 3n })
  expect(await enter(key, wanted)).toBe(true)
  expect((await fresh(key)).available).toBe(10n ** 24n + 7n - 10n ** 20n - 3n)
  expect(booksBalance(await fresh(key))).toBe(true)
})

test('a hold that 20 callers release at once is released once', async () => {
  const key = await issue()
  const wanted = demandAt(key, NOW, { hold: 800n })
  await enter(key, wanted)
  const hold = { amount: 800n, untilMs: wanted.holdUntilMs }
  const release = { address: key.address, requestId: wanted.requestId, hold, cost: 300n }
  const released = await Promise.all(Array.from({ length: 20 }, () => releaseHold(tables)(release)))
  expect(released.filter(Boolean)).toHaveLength(1)
  expect(await fresh(key)).toMatchObject({ available: 1_000_000n - 300n, spent: 300n, holds: {} })
})
