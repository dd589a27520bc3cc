import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { beforeAll, describe, expect, test } from '@jest/globals'
import type { Demand } from '../../layers/gateway/domain/admission/admission.ts'
import { limitsOf } from '../../layers/gateway/domain/admission/limits.ts'
import { DAY_MS, HOUR_MS, MINUTE_MS } from '../../layers/gateway/domain/basics/time.ts'
import type { Key } from '../../layers/gateway/domain/keys/key.ts'
import type { KeySettings } from '../../layers/gateway/domain/keys/key-settings.ts'
import { KEY_DEFAULTS } from '../../layers/gateway/domain/keys/new-key.ts'
import { releaseHold } from '../../layers/gateway/store/admission/release-hold.ts'
import { takeAdmission } from '../../layers/gateway/store/admission/take-admission.ts'
import type { Database, UpdateInput } from '../../layers/gateway/store/dynamodb/database.ts'
import { openTables } from '../../layers/gateway/store/dynamodb/tables.ts'
import { readKey } from '../../layers/gateway/store/keys/read-key.ts'
import { updateKey } from '../../layers/gateway/store/keys/update-key.ts'
import type { OperatorTables } from '../../layers/gateway/store/sdk/operator-tables.ts'
import { issueKey } from '../../local/issue-key.ts'
import { actAt } from '../support/act.ts'
import { demandOf } from '../support/demand.ts'
import { booksBalance, openTestTables } from '../support/gateway.ts'

const NOW = Date.UTC(2026, 10, 15, 12)
let tables: OperatorTables

beforeAll(async () => {
  tables = await openTestTables()
})

async function issue(settings: Partial<KeySettings> = {}, credits = 1_000_000n): Promise<Key> {
  const options = { settings: { ...KEY_DEFAULTS, name: 'test', ...settings }, credits, prefix: 'svc_live_', by: 'test' }
  return (await issueKey(tables, options, NOW)).key
}

/** The same tables, with some calls that go another way. */
const withDatabase = (calls: Partial<Database>) => ({ ...tables, database: { ...tables.database, ...calls } })

const demand = (key: Key, hold = 0n, nowMs = NOW) => demandOf(key, nowMs, { hold })

/** As the gateway does it: a refusal that brings a fresh key is tried once more with that key. */
async function enter(key: Key, wanted: Demand): Promise<boolean> {
  const take = takeAdmission(tables)
  const first = await take(key, wanted)
  if (first.admitted || !first.key) return first.admitted === true
  return (await take(first.key, wanted)).admitted === true
}

async function race(key: Key, count: number, hold = 0n, nowMs = NOW): Promise<number> {
  const results = await Promise.all(Array.from({ length: count }, () => enter(key, demand(key, hold, nowMs))))
  return results.filter(Boolean).length
}

const fresh = async (key: Key): Promise<Key> => (await readKey(tables)(key.id)) as Key

test('a key limited to 60 requests a minute admits exactly 60 of 200 at once, and then one a second', async () => {
  const key = await issue({ rpm: 60 })
  expect(await race(key, 200)).toBe(60)
  const after = await fresh(key)
  expect(limitsOf(after, NOW).rpm.remaining).toBe(0)
  expect(await race(after, 50, 0n, NOW + 999)).toBe(0)
  expect(await race(after, 50, 0n, NOW + 1000)).toBe(1)
})

test('a key limited to 25 requests a day admits exactly 25 of 200 at once, and 25 again after midnight UTC', async () => {
  const key = await issue({ rpm: 60_000, dailyLimit: 25 })
  expect(await race(key, 200)).toBe(25)
  expect(limitsOf(await fresh(key), NOW).daily.remaining).toBe(0)
  expect(await race(await fresh(key), 100, 0n, NOW + DAY_MS)).toBe(25)
})

test('a key with credit for 10 holds admits exactly 10 of 200 requests at once, and its balance ends at zero', async () => {
  const key = await issue({ rpm: 60_000 }, 10_000n)
  expect(await race(key, 200, 1_000n)).toBe(10)
  const after = await fresh(key)
  expect(after.available).toBe(0n)
  expect(booksBalance(after)).toBe(true)
})

test('a key limited to 7 parallel requests admits exactly 7 of 100 at once', async () => {
  const key = await issue({ rpm: 60_000, maxConcurrent: 7 })
  expect(await race(key, 100)).toBe(7)
})

test('a request that asks for admission again takes nothing a second time', async () => {
  const key = await issue()
  const wanted = demand(key, 500n)
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
  const refused = await takeAdmission(tables)(stale, demand(stale))
  expect(refused).toMatchObject({ admitted: false, key: { rpm: 1, version: 2 } })
})

test('a cached copy of a key that has missed earlier requests does not admit more than the limit', async () => {
  const cached = await issue({ rpm: 1 })
  expect(await enter(cached, demand(cached))).toBe(true)
  expect(await enter(cached, demand(cached))).toBe(false)
})

test('the count of yesterday is kept for instances whose clock is late, and older days are forgotten', async () => {
  const key = await issue({ dailyLimit: 3 })
  expect(await race(key, 3, 0n, NOW)).toBe(3)
  expect(await race(await fresh(key), 1, 0n, NOW + DAY_MS)).toBe(1)
  expect(await race(await fresh(key), 1, 0n, NOW)).toBe(0)
  expect(await race(await fresh(key), 1, 0n, NOW + 2 * DAY_MS)).toBe(1)
  expect(Object.keys((await fresh(key)).counts.dailyLimit).sort()).toEqual(['2026-11-16', '2026-11-17'])
})

test('an unexpected DynamoDB error is thrown, never taken for a refusal', async () => {
  const key = await issue()
  await expect(takeAdmission({ ...tables, keys: 'no-such-table' })(key, demand(key))).rejects.toThrow()
})

test('an admission waits out a conflict with an operator’s transaction', async () => {
  const key = await issue()
  const conflict = Object.assign(new Error('conflict'), { name: 'TransactionConflictException' })
  let conflicts = 3
  const updateOnce = (input: UpdateInput) => {
    conflicts -= 1
    return conflicts >= 0 ? Promise.reject(conflict) : tables.database.updateOnce(input)
  }
  expect((await takeAdmission(withDatabase({ updateOnce }))(key, demand(key))).admitted).toBe(true)
})

describe('admissions of unknown outcome', () => {
  const timeout = Object.assign(new Error('no answer'), { name: 'TimeoutError' })

  test('an admission that was written but not answered is found, and is not sent again', async () => {
    const key = await issue()
    let sent = 0
    const updateOnce = async (input: UpdateInput) => {
      sent += 1
      await tables.database.updateOnce(input)
      throw timeout
    }
    const wanted = demand(key, 500n)
    const result = await takeAdmission(withDatabase({ updateOnce }))(key, wanted)
    expect(result).toMatchObject({ admitted: true, key: { available: 999_500n } })
    expect(sent).toBe(1)
  })

  test('an admission that is not answered and not found is neither granted nor refused, as it may yet be written', async () => {
    const key = await issue()
    const updateOnce = () => Promise.reject(timeout)
    const result = await takeAdmission(withDatabase({ updateOnce }))(key, demand(key, 500n))
    expect(result).toMatchObject({ admitted: 'unknown', key: { available: 1_000_000n } })
  })

  test('the DynamoDB client sends an admission once, and a read three times', async () => {
    let requests = 0
    const silent = createServer((_, response) => {
      requests += 1
      response.writeHead(500).end('{}')
    })
    await new Promise<void>((resolve) => silent.listen(0, '127.0.0.1', resolve))
    const endpoint = `http://127.0.0.1:${(silent.address() as AddressInfo).port}`
    const broken = openTables({ keysTable: 'k', usageTable: 'u', answersTable: 'a' }, { endpoint })
    const key = await issue()
    await expect(takeAdmission(broken)(key, demand(key))).rejects.toThrow()
    expect(requests).toBe(1 + 3)
    silent.closeAllConnections()
    silent.close()
  })
})

describe('clocks that disagree', () => {
  test('two clocks that are 2 s apart admit the limit and the refill of 2 s, and no more', async () => {
    const key = await issue({ rpm: 60 })
    expect(await race(key, 40, 0n, NOW)).toBe(40)
    // 2 s ahead there are 20 left and 2 refilled; the one behind finds none.
    expect(await race(await fresh(key), 40, 0n, NOW + 2_000)).toBe(22)
    expect(await race(await fresh(key), 20, 0n, NOW)).toBe(0)
  })

  test('a clock that steps back 10 s refills nothing and locks out no key that has requests left', async () => {
    const key = await issue({ rpm: 60 })
    expect(await race(key, 5, 0n, NOW)).toBe(5)
    expect(await race(await fresh(key), 60, 0n, NOW - 10_000)).toBe(45)
  })

  test.each([
    ['two minutes', 2 * MINUTE_MS],
    ['an hour', HOUR_MS],
  ])(
    'a clock that is %s ahead leaves the others one request and the refill, and does not lock them out',
    async (_, aheadMs) => {
      const key = await issue({ rpm: 60 })
      expect(await race(key, 3, 0n, NOW + aheadMs)).toBe(3)
      const after = await fresh(key)
      expect(limitsOf(after, NOW).rpm.remaining).toBe(1)
      expect(await race(after, 20, 0n, NOW)).toBe(1)
      expect(await race(await fresh(key), 20, 0n, NOW + 5_000)).toBe(5)
      // The clock that was wrong finds a full bucket once more, at most.
      expect(await race(await fresh(key), 80, 0n, NOW + aheadMs)).toBe(60)
    },
  )

  test('a clock that is an hour ahead, into tomorrow, counts every request on one day, and no day twice', async () => {
    const key = await issue({ rpm: 60_000, dailyLimit: 5 })
    const midnight = NOW - (NOW % DAY_MS) + DAY_MS
    const beforeMidnight = midnight - 1_000
    expect(await race(key, 3, 0n, beforeMidnight)).toBe(3)
    expect(await race(await fresh(key), 2, 0n, beforeMidnight + HOUR_MS)).toBe(2)
    expect(await race(await fresh(key), 1, 0n, beforeMidnight)).toBe(1)
    expect(await race(await fresh(key), 9, 0n, beforeMidnight + 500)).toBe(1)
    expect(await race(await fresh(key), 9, 0n, midnight + HOUR_MS)).toBe(3)
  })
})

test('balances beyond 2^53 nanocredits stay exact', async () => {
  const key = await issue({}, 10n ** 24n + 7n)
  const wanted = demand(key, 10n ** 20n + 3n)
  expect(await enter(key, wanted)).toBe(true)
  expect((await fresh(key)).available).toBe(10n ** 24n + 7n - 10n ** 20n - 3n)
  expect(booksBalance(await fresh(key))).toBe(true)
})

test('a hold that 20 callers release at once is released once', async () => {
  const key = await issue()
  const wanted = demand(key, 800n)
  await enter(key, wanted)
  const release = {
    keyId: key.id,
    requestId: wanted.requestId,
    hold: { amount: 800n, untilMs: wanted.holdUntilMs },
    cost: 300n,
  }
  const released = await Promise.all(Array.from({ length: 20 }, () => releaseHold(tables)(release)))
  expect(released.filter(Boolean)).toHaveLength(1)
  expect(await fresh(key)).toMatchObject({ available: 1_000_000n - 300n, spent: 300n, holds: {} })
})
