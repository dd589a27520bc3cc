import { randomBytes } from 'node:crypto'
import { describe, expect, test } from '@jest/globals'
import { createSweep } from '../../functions/sweep/create.ts'
import { DAY_MS, ulid } from '../../layers/gateway/domain/basics/time.ts'
import { dueNotices, NOTICE_KINDS } from '../../layers/gateway/domain/keys/notice.ts'
import { SWEEP_EVERY_MINUTES } from '../../layers/gateway/names.ts'
import { scheduleSweep } from '../../layers/gateway/store/admission/sweep.ts'
import { keyItem } from '../../layers/gateway/store/keys/key-item.ts'
import { revokeKey } from '../../layers/gateway/store/keys/rotate-key.ts'
import { resumeKey, suspendKey } from '../../layers/gateway/store/keys/suspend-key.ts'
import { updateKey } from '../../layers/gateway/store/keys/update-key.ts'
import { keepNotice, readWatched } from '../../layers/gateway/store/notices/notices.ts'
import type { NoticeBody } from '../../layers/gateway/wire/keys/notice-body.ts'
import { actAt } from '../support/act.ts'
import { HELLO } from '../support/gateway.ts'
import { grantCredits } from '../support/grant-credits.ts'
import { intercept } from '../support/intercept.ts'
import { openBoth } from '../support/stack.ts'
import { holdAnswers } from '../support/upstream.ts'

const CREDIT = 1_000_000_000n
const ASKED = { ...HELLO, max_tokens: 10 }
let nowMs = Date.UTC(2026, 10, 17, 12)
let told: NoticeBody[] = []

/** Each answer costs 0.1 credits. */
const price = { input: '0', output: '0', request: '0.1' }

const { upstream, gateway } = await openBoth({ model: { price }, clock: () => nowMs })

const tell = async (notice: NoticeBody) => {
  told.push(notice)
}
const sweepOnce = () => createSweep(gateway.instance, tell)()

/** The next run of the schedule: that is all the time in which a notice must be told. */
async function sweep(): Promise<string[]> {
  nowMs += SWEEP_EVERY_MINUTES * 60_000
  told = []
  await sweepOnce()
  return told.map(({ type }) => type)
}

const suspend = (keyId: string) => suspendKey(gateway.tables)(keyId, actAt(nowMs))

async function spend(secret: string, requests: number): Promise<number[]> {
  const statuses: number[] = []
  for (let i = 0; i < requests; i++) statuses.push((await gateway.post(secret, ASKED)).status)
  return statuses
}

describe('a level', () => {
  test('is told once, when a settlement takes the balance below it, and not again', async () => {
    const { key, secret } = await gateway.issue({ credits: '1', notifyBelow: CREDIT / 2n, externalId: 'cus_1' })
    await spend(secret, 5)
    expect(await sweep()).toEqual([])
    await spend(secret, 1)
    expect(await sweep()).toEqual(['key.balance_low'])
    expect(told[0]).toEqual({
      id: expect.stringMatching(/^[0-9A-Z]{26}$/),
      type: 'key.balance_low',
      timestamp: expect.stringMatching(/^2026-11-17T/),
      data: { key_id: key.id, key_name: 'test', external_id: 'cus_1', balance: '0.4', notify_below: '0.5' },
    })
    await spend(secret, 1)
    expect(await sweep()).toEqual([])
    expect(await sweep()).toEqual([])
  })

  test('is told of every key, however many are below theirs at once', async () => {
    const all = Array.from({ length: 12 }, () => gateway.issue({ credits: '1', notifyBelow: CREDIT }))
    for (const { secret } of await Promise.all(all)) await spend(secret, 1)
    expect(await sweep()).toEqual(Array(12).fill('key.balance_low'))
  })

  test('is armed again by a top-up above it, also if it is crossed again before a sweep, and by no smaller one', async () => {
    const { key, secret } = await gateway.issue({ credits: '1', notifyBelow: CREDIT / 2n })
    await spend(secret, 6)
    expect(await sweep()).toEqual(['key.balance_low'])
    await grantCredits(gateway.tables)(key.id, CREDIT / 20n, actAt(nowMs))
    await spend(secret, 1)
    expect(await sweep()).toEqual([])
    await grantCredits(gateway.tables)(key.id, CREDIT / 2n, actAt(nowMs))
    await spend(secret, 4)
    expect(await sweep()).toEqual(['key.balance_low'])
    expect(await sweep()).toEqual([])
  })

  test('does not count credits that requests hold', async () => {
    const release = holdAnswers(upstream)
    const { secret } = await gateway.issue({ credits: '1', notifyBelow: CREDIT / 2n, maxConcurrent: 20 })
    const sent = Array.from({ length: 8 }, () => gateway.post(secret, ASKED))
    await new Promise((done) => setTimeout(done, 300))
    expect(await sweep()).toEqual([])
    release()
    await Promise.all(sent)
    expect(await sweep()).toEqual(['key.balance_low'])
  })

  test('that is set on a key already below it is told, and one that is changed is told anew', async () => {
    const { key } = await gateway.issue({ credits: '1' })
    await updateKey(gateway.tables)(key.id, { notifyBelow: 2n * CREDIT }, actAt(nowMs))
    expect(await sweep()).toEqual(['key.balance_low'])
    await updateKey(gateway.tables)(key.id, { notifyBelow: 3n * CREDIT }, actAt(nowMs))
    expect(await sweep()).toEqual(['key.balance_low'])
    await updateKey(gateway.tables)(key.id, { notifyBelow: null }, actAt(nowMs))
    expect(await sweep()).toEqual([])
  })

  test('is told once, though 200 requests race across it while sweeps run side by side', async () => {
    const credits = { credits: '30', notifyBelow: 20n * CREDIT }
    const { key, secret } = await gateway.issue({ ...credits, rpm: 60_000, maxConcurrent: 1000 })
    told = []
    const sent = Array.from({ length: 200 }, () => gateway.post(secret, ASKED))
    for (let i = 0; i < 10; i++) await Promise.all([sweepOnce(), sweepOnce()])
    expect((await Promise.all(sent)).filter(({ status }) => status !== 200)).toEqual([])
    const before = told
    await sweep()
    const all = [...before, ...told].filter(({ data }) => data.key_id === key.id)
    expect(new Set(all.map(({ id }) => id)).size).toBe(1)
  })

  test('costs a request neither a call nor a write more', async () => {
    const [plain, watched] = [await gateway.issue(), await gateway.issue({ notifyBelow: CREDIT })]
    await spend(plain.secret, 1)
    await spend(watched.secret, 1)
    const callsOf = async (secret: string) => {
      const before = gateway.calls.length
      await spend(secret, 3)
      return gateway.calls.slice(before).map(({ name }) => name)
    }
    expect(await callsOf(watched.secret)).toEqual(await callsOf(plain.secret))
  })
})

describe('credits that ran out', () => {
  test('the balance is told once for all that was granted', async () => {
    const { key, secret } = await gateway.issue({ credits: '0.2' })
    expect(await spend(secret, 5)).toEqual([200, 200, 402, 402, 402])
    expect(await sweep()).toEqual(['key.credit_balance_exhausted'])
    expect(told[0]?.data).toMatchObject({ balance: '0' })
    await spend(secret, 1)
    expect(await sweep()).toEqual([])
    await grantCredits(gateway.tables)(key.id, CREDIT / 10n, actAt(nowMs))
    expect(await spend(secret, 2)).toEqual([200, 402])
    expect(await sweep()).toEqual(['key.credit_balance_exhausted'])
  })

  test.each([
    ['dailyCredits', 'key.daily_credits_exceeded', DAY_MS],
    ['monthlyCredits', 'key.monthly_credits_exceeded', 31 * DAY_MS],
  ] as const)('%s is told once for a window and its limit', async (name, type, windowMs) => {
    const { key, secret } = await gateway.issue({ [name]: CREDIT / 5n })
    expect(await spend(secret, 4)).toEqual([200, 200, 429, 429])
    expect(await sweep()).toEqual([type])
    expect(told[0]?.data).toMatchObject({ limit: '0.2', window: expect.stringMatching(/^2026-1/) })
    await spend(secret, 1)
    expect(await sweep()).toEqual([])
    await updateKey(gateway.tables)(key.id, { [name]: (CREDIT * 3n) / 10n }, actAt(nowMs))
    expect(await spend(secret, 2)).toEqual([200, 429])
    expect(await sweep()).toEqual([type])
    nowMs += windowMs
    expect(await spend(secret, 4)).toEqual([200, 200, 200, 429])
    expect(await sweep()).toEqual([type])
    nowMs -= windowMs
  })

  test('is told also of a key that is busy, with other requests under way all the time', async () => {
    const { secret } = await gateway.issue({ credits: '0.2', maxConcurrent: 20 })
    const release = holdAnswers(upstream)
    const first = gateway.post(secret, ASKED)
    await new Promise((done) => setTimeout(done, 200))
    expect(await sweep()).toEqual([])
    const second = gateway.post(secret, ASKED)
    await new Promise((done) => setTimeout(done, 200))
    expect(await spend(secret, 1)).toEqual([402])
    expect(await sweep()).toEqual(['key.credit_balance_exhausted'])
    release()
    await Promise.all([first, second])
  })
})

describe('the life of a key', () => {
  test('each suspension and its revocation are told under the ids of the acts, however fast they follow', async () => {
    const { key } = await gateway.issue()
    const [first, second, third, last] = [actAt(nowMs), actAt(nowMs), actAt(nowMs), actAt(nowMs)] as const
    await suspendKey(gateway.tables)(key.id, first)
    await suspend(key.id)
    await resumeKey(gateway.tables)(key.id, second)
    await suspendKey(gateway.tables)(key.id, third)
    await revokeKey(gateway.tables)(key.id, last)
    await sweep()
    expect(told.map(({ id, type }) => [id, type]).toSorted()).toEqual(
      [
        [first.id, 'key.suspended'],
        [third.id, 'key.suspended'],
        [last.id, 'key.revoked'],
      ].toSorted(),
    )
    expect(await sweep()).toEqual([])
  })

  test('an expiry is told a week before, and once, also of a key that nobody uses', async () => {
    const { key } = await gateway.issue({ expiresAtMs: nowMs + 9 * DAY_MS })
    nowMs += 2 * DAY_MS - SWEEP_EVERY_MINUTES * 60_000 - 1
    expect(await sweep()).toEqual([])
    expect(await sweep()).toEqual(['key.expires_soon'])
    expect(await sweep()).toEqual([])
    await updateKey(gateway.tables)(key.id, { expiresAtMs: nowMs + 20 * DAY_MS }, actAt(nowMs))
    expect(await sweep()).toEqual([])
    nowMs += 13 * DAY_MS
    expect(await sweep()).toEqual(['key.expires_soon'])
  })

  test('an expiry that is removed or moved is not told, nor that of a revoked key', async () => {
    const ids = await Promise.all(
      [1, 2, 3].map(async () => (await gateway.issue({ expiresAtMs: nowMs + 8 * DAY_MS })).key.id),
    )
    await updateKey(gateway.tables)(ids[0] ?? '', { expiresAtMs: null }, actAt(nowMs))
    await updateKey(gateway.tables)(ids[1] ?? '', { expiresAtMs: nowMs + 80 * DAY_MS }, actAt(nowMs))
    await revokeKey(gateway.tables)(ids[2] ?? '', actAt(nowMs))
    nowMs += 2 * DAY_MS
    expect(await sweep()).toEqual(['key.revoked'])
  })
})

describe('crashes', () => {
  /** Every call of the sweep to the database and to the receiver, counted; the one with this number and all later ones fail. */
  function dyingAfter(calls: number) {
    let left = calls
    const step = () => {
      left -= 1
      if (left < 0) throw new Error('The process is dead.')
    }
    const tables = { ...gateway.instance.tables, database: { ...gateway.instance.tables.database } }
    intercept(tables, async (send) => {
      step()
      return send()
    })
    const run = createSweep({ ...gateway.instance, tables }, async (notice) => {
      step()
      await tell(notice)
      step()
    })
    return async () => {
      await run().catch(() => {})
      return left < 0
    }
  }

  test('a sweep that dies at any step loses no notice, and one that is told twice has the same id', async () => {
    for (let calls = 0, isDead = true; isDead; calls++) {
      const { key, secret } = await gateway.issue({ credits: '0.2', notifyBelow: CREDIT / 5n, dailyCredits: CREDIT })
      await spend(secret, 3)
      await suspend(key.id)
      nowMs += SWEEP_EVERY_MINUTES * 60_000
      told = []
      isDead = await dyingAfter(calls)()
      nowMs += SWEEP_EVERY_MINUTES * 60_000
      await sweepOnce()
      const own = told.filter(({ data }) => data.key_id === key.id)
      const ids = new Set(own.map(({ id, type }) => `${type} ${id}`))
      expect([...ids].map((id) => id.split(' ')[0]).toSorted()).toEqual([
        'key.balance_low',
        'key.credit_balance_exhausted',
        'key.suspended',
      ])
      expect(calls).toBeLessThan(100)
    }
  })

  test('a receiver that is away is tried again by every sweep for three days, and then given up with a line in the log', async () => {
    const { key } = await gateway.issue()
    await suspend(key.id)
    const away = createSweep(gateway.instance, () => Promise.reject(new Error('away')))
    await away()
    nowMs += 2 * DAY_MS
    await away()
    expect(await sweep()).toEqual(['key.suspended'])
    await resumeKey(gateway.tables)(key.id, actAt(nowMs))
    await revokeKey(gateway.tables)(key.id, actAt(nowMs))
    await away()
    nowMs += 3 * DAY_MS
    expect(await sweep()).toEqual([])
    expect(gateway.logLines.some((line) => line.includes('given up') && line.includes(key.id))).toBe(true)
  })

  test('where nobody is told, notices are not kept', async () => {
    const { key, secret } = await gateway.issue({ credits: '0.1', notifyBelow: CREDIT })
    await spend(secret, 2)
    await suspend(key.id)
    nowMs += SWEEP_EVERY_MINUTES * 60_000
    await createSweep(gateway.instance)()
    const { Item } = await gateway.tables.database.get({ TableName: gateway.tables.keys, Key: keyItem(key.id) })
    expect([Item?.notices, Item?.sweepAt]).toEqual([undefined, undefined])
  })

  test.each(['nonsense', '["x","key.revoked",{}]', '["01ARZ3NDEKTSV4RRFFQ69G5FAV","key.paid",{}]', '[1]', 'null'])(
    'the forged notice %s on an item is not told, and does not stop the others',
    async (forged) => {
      const { key } = await gateway.issue()
      await gateway.tables.database.update({
        TableName: gateway.tables.keys,
        Key: keyItem(key.id),
        UpdateExpression: 'ADD notices :forged',
        ExpressionAttributeValues: { ':forged': new Set([Buffer.from(forged)]) },
      })
      await suspend(key.id)
      expect(await sweep()).toEqual(['key.suspended'])
      expect(await sweep()).toEqual([])
    },
  )
})

test('of 200 sweeps that find a notice due, one makes it', async () => {
  const { key, secret } = await gateway.issue({ credits: '1', notifyBelow: CREDIT })
  await spend(secret, 1)
  const watched = await readWatched(gateway.tables)(key.id)
  if (!watched) throw new Error('The key is gone.')
  const [due] = dueNotices(watched, nowMs)
  if (!due) throw new Error('Nothing is due.')
  const keep = keepNotice(gateway.tables)
  const made = await Promise.all(Array.from({ length: 200 }, () => keep(watched, due, ulid(nowMs, randomBytes(10)))))
  expect(made.filter(Boolean)).toHaveLength(1)
  expect(await sweep()).toEqual(['key.balance_low'])
})

test('a request that came and went while a sweep looked at its key is seen by the next one', async () => {
  const { key, secret } = await gateway.issue({ credits: '1', notifyBelow: CREDIT / 2n })
  await spend(secret, 5)
  const looked = await gateway.readKey(key.id)
  await spend(secret, 1)
  await scheduleSweep(gateway.tables)(looked, nowMs)
  expect(await sweep()).toEqual(['key.balance_low'])
})

test('no notice has anything of a secret in it', async () => {
  const { key, secret } = await gateway.issue({ credits: '0.1', notifyBelow: CREDIT })
  await spend(secret, 2)
  await suspend(key.id)
  await sweep()
  const text = JSON.stringify(told)
  for (const part of [secret, key.current.hash, key.current.lastFour, 'Hello']) expect(text).not.toContain(part)
  expect(NOTICE_KINDS).toEqual(expect.arrayContaining(told.map(({ type }) => type)))
})
