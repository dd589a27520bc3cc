import { marshall } from '@aws-sdk/util-dynamodb'
import { describe, expect, test } from '@jest/globals'
import { COUNTER_NAMES, COUNTERS, type CounterName, WINDOWS } from '../../layers/gateway/domain/admission/counters.ts'
import { type AdmissionRefusal, REFUSALS } from '../../layers/gateway/domain/basics/gateway-error.ts'
import { DAY_MS, MINUTE_MS } from '../../layers/gateway/domain/basics/time.ts'
import type { Key } from '../../layers/gateway/domain/keys/key.ts'
import type { KeySettings } from '../../layers/gateway/domain/keys/key-settings.ts'
import { ADMISSION_RULES, counterWrite } from '../../layers/gateway/store/admission/admission-rules.ts'
import { isConditionFailed } from '../../layers/gateway/store/dynamodb/conditional-writes.ts'
import type { UpdateInput } from '../../layers/gateway/store/dynamodb/database.ts'
import { keyItem } from '../../layers/gateway/store/keys/key-item.ts'
import { suspendKey } from '../../layers/gateway/store/keys/suspend-key.ts'
import { actAt } from '../support/act.ts'
import { itemBytes, type RawItem } from '../support/item-bytes.ts'
import { admit, demandAt, fresh, issue, NOW, storedItem, tables } from './support/store.ts'

const HOLD = 100n

type Setup = { readonly settings?: Partial<KeySettings>; readonly credits?: bigint }

const make = ({ settings, credits = 1_000_000n }: Setup = {}) => issue(settings, { credits, nowMs: NOW - 90 * DAY_MS })
const demandFor = (key: Key, nowMs: number, hold = HOLD) => demandAt(key, nowMs, { hold, tokens: 1n })

/** Keys that have room for one request, or for one until the next millisecond. */
const ROOM_FOR_ONE: Partial<Record<AdmissionRefusal, Setup>> = {
  invalid_api_key: { settings: { expiresAtMs: NOW + 1 } },
  rate_limit_exceeded: { settings: { rpm: 1 } },
  concurrency_limit_exceeded: { settings: { maxConcurrent: 1 } },
  credit_balance_exhausted: { credits: HOLD },
  ...Object.fromEntries(
    COUNTER_NAMES.map((name) => {
      const { counts, refusal } = COUNTERS[name]
      return [refusal, { settings: { [name]: counts === 'credits' ? HOLD : 1 } }]
    }),
  ),
}

/** The act that must come between the two requests, if a key has no room of its own accord. */
const BETWEEN: Partial<Record<AdmissionRefusal, (key: Key) => Promise<unknown>>> = {
  key_suspended: ({ id }) => suspendKey(tables)(id, actAt(NOW)),
}

test('each reason for which admission refuses is that of one rule', () => {
  // A loss refuses routes, and no request.
  const { daily_loss_exceeded: _, ...refusals } = REFUSALS
  expect(ADMISSION_RULES.map(({ refusal }) => refusal).toSorted()).toEqual(Object.keys(refusals).toSorted())
})

describe.each(ADMISSION_RULES.map(({ refusal }) => refusal))('the rule for %s', (refusal) => {
  test('admits the last request within it, refuses the next by a fresh copy of the key, and gives the reason', async () => {
    const key = await make(ROOM_FOR_ONE[refusal])
    const first = await admit(key, demandFor(key, NOW))
    expect(first.admitted).toBe(true)
    await BETWEEN[refusal]?.(key)
    const second = demandFor(key, NOW + 1)
    expect(await admit(await fresh(key), second)).toMatchObject({ admitted: false, why: refusal })
    expect(await admit(first.key as Key, second)).toMatchObject({ admitted: false, why: refusal })
  })

  test('is no reason for refusing a request within it whose copy of the key is stale', async () => {
    const key = await make(ROOM_FOR_ONE[refusal])
    const refused = await admit({ ...key, version: key.version + 1 }, demandFor(key, NOW))
    expect(refused).toMatchObject({ admitted: false, key: { id: key.id } })
    expect(refused).not.toHaveProperty('why', expect.anything())
  })
})

test('the copy of a key after an admission is the key as it is stored, but for requests that are under way', async () => {
  const everyLimit = Object.fromEntries(COUNTER_NAMES.map((name) => [name, 1_000n]))
  let copy = await make({
    settings: { ...everyLimit, dailyLimit: 1_000, tpm: 1_000, expiresAtMs: NOW + DAY_MS, models: ['gpt-*'] },
  })
  for (const nowMs of [NOW - 40 * DAY_MS, NOW - DAY_MS, NOW - MINUTE_MS, NOW, NOW + 1]) {
    const result = await admit(copy, demandFor(copy, nowMs))
    copy = result.key as Key
    expect({ ...copy, holds: {} }).toEqual({ ...(await fresh(copy)), holds: {} })
  }
})

test('a key with every limit and 20 requests under way is at most 1 KB, so that a write to it is one unit', async () => {
  const everyLimit = Object.fromEntries(COUNTER_NAMES.map((name) => [name, 1_000_000n]))
  const key = await make({ settings: { ...everyLimit, dailyLimit: 1_000_000, expiresAtMs: NOW + DAY_MS } })
  const before = [31 * DAY_MS, DAY_MS, 2 * MINUTE_MS, MINUTE_MS].map((ms) => NOW - ms)
  for (const nowMs of before) await admit(await fresh(key), demandFor(key, nowMs, 1n))
  for (let i = 0; i < 16; i++) await admit(await fresh(key), demandFor(key, NOW + i, 1n))
  expect(Object.keys((await fresh(key)).holds)).toHaveLength(20)
  expect(itemBytes(marshall(await storedItem(key)) as RawItem)).toBeLessThanOrEqual(1_024)
})

test.each(COUNTER_NAMES)('%s keeps the windows that late clocks may ask for, and forgets older ones', async (name) => {
  const key = await make()
  const { nameAt, keptMs } = WINDOWS[COUNTERS[name].within]
  for (const nowMs of [NOW - 40 * DAY_MS, NOW - keptMs, NOW]) await admit(await fresh(key), demandFor(key, nowMs))
  const windows = [NOW - keptMs, NOW].map(nameAt)
  expect(Object.keys((await fresh(key)).counts[name]).sort()).toEqual([...new Set(windows)])
})

test('a limit on tokens takes 40 bytes at most, and 20 for a minute; a key without one is written as if there were none', async () => {
  const bytesOf = async (settings: Partial<KeySettings>, tokens: bigint | undefined) => {
    const key = await make({ settings })
    for (const nowMs of [NOW - 2 * MINUTE_MS, NOW - MINUTE_MS, NOW])
      await admit(await fresh(key), demandAt(key, nowMs, { hold: HOLD, tokens }))
    const item = marshall(await storedItem(key)) as RawItem
    const ofTokens = Object.entries(item).filter(([name]) => name.startsWith('t:'))
    return { all: itemBytes(item), windows: itemBytes(Object.fromEntries(ofTokens) as RawItem), ofTokens }
  }
  const [without, limited] = [await bytesOf({}, undefined), await bytesOf({ tpm: 1_000_000_000 }, 300_000_000n)]
  expect(without.ofTokens).toEqual([])
  expect(limited.ofTokens).toHaveLength(3)
  expect(limited.windows).toBeLessThanOrEqual(3 * 20)
  expect(limited.all - limited.windows - without.all).toBeLessThanOrEqual(40)
})

describe('a counter of credits', () => {
  const NAME = 'sample' as CounterName
  const LIMIT = 100n
  const { condition, take, giveBack, nameWindow } = counterWrite(NAME, {
    counts: 'credits',
    within: 'month',
    refusal: 'daily_limit_exceeded',
    stored: 'sample',
    api: 'sample',
  })

  /** True if a key with this limit may take so much. */
  async function takes(key: Key, hold: bigint, nowMs = NOW): Promise<boolean> {
    const [names, values] = [{}, { ':hold': hold, ':zero': 0 }]
    nameWindow(names, nowMs)
    const limited = Object.assign({}, key, { [NAME]: LIMIT })
    const ConditionExpression = condition(limited, demandFor(key, nowMs, hold), values) ?? 'attribute_exists(pk)'
    const write = { ConditionExpression, UpdateExpression: `SET ${take}`, ExpressionAttributeNames: names }
    return update(key, { ...write, ExpressionAttributeValues: values })
  }

  async function givesBack(key: Key, back: bigint, atMs: number): Promise<void> {
    const names = {}
    nameWindow(names, atMs)
    const write = { UpdateExpression: `SET ${giveBack}`, ExpressionAttributeNames: names }
    await update(key, { ...write, ExpressionAttributeValues: { ':back': back } })
  }

  async function update(key: Key, write: Omit<UpdateInput, 'TableName' | 'Key'>): Promise<boolean> {
    try {
      await tables.database.update({ TableName: tables.keys, Key: keyItem(key.id), ...write })
      return true
    } catch (error) {
      if (isConditionFailed(error)) return false
      throw error
    }
  }

  const stored = async (key: Key, month: string) => (await storedItem(key))[`sample:${month}`]

  test('takes up to its limit of a month, however much the first request of the month wants', async () => {
    const key = await make()
    expect(await takes(key, LIMIT + 1n)).toBe(false)
    expect(await takes(key, 60n)).toBe(true)
    expect(await takes(key, 41n)).toBe(false)
    expect(await takes(key, 40n)).toBe(true)
    expect(await takes(key, LIMIT, NOW + 30 * DAY_MS)).toBe(true)
  })

  test('admits a request that holds nothing, also when it is used up', async () => {
    const key = await make()
    expect(await takes(key, LIMIT)).toBe(true)
    expect(await takes(key, 0n)).toBe(true)
    expect(await stored(key, '2026-11')).toBe(100)
  })

  test('gives back to the month that was taken from, and does not fail when that month is forgotten', async () => {
    const key = await make()
    await takes(key, 60n)
    await takes(key, 60n, NOW + 30 * DAY_MS)
    await givesBack(key, 25n, NOW)
    expect(await Promise.all(['2026-11', '2026-12'].map((month) => stored(key, month)))).toEqual([35, 60])
    await givesBack(key, 25n, NOW - 30 * DAY_MS)
    expect(await stored(key, '2026-10')).toBe(0)
  })
})
