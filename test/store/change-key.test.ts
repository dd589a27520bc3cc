import { describe, expect, test } from '@jest/globals'
import { GRACE_MS } from '../../layers/gateway/domain/keys/key-settings.ts'
import { takeAdmission } from '../../layers/gateway/store/admission/take-admission.ts'
import type { Database, Item, Tables } from '../../layers/gateway/store/dynamodb/database.ts'
import { WriteOutcomeUnknown, wasTransactionRejected } from '../../layers/gateway/store/dynamodb/transact.ts'
import { findKeyId } from '../../layers/gateway/store/keys/read-key.ts'
import { endGrace, revokeKey, rotateKey } from '../../layers/gateway/store/keys/rotate-key.ts'
import { updateKey } from '../../layers/gateway/store/keys/update-key.ts'
import { actAt } from '../support/act.ts'
import { grantCredits } from '../support/grant-credits.ts'
import { canceled } from '../support/intercept.ts'
import { demandAt, fresh, issue, NOW, nextSecret, openLine, tables } from './support/store.ts'

test('ten rotations at once all happen, one after another, and only the last two secrets are known', async () => {
  const key = await issue()
  const secrets = Array.from({ length: 10 }, nextSecret)
  await Promise.all(secrets.map((secret) => rotateKey(tables)(key.id, secret, actAt(NOW))))
  const known = await Promise.all(secrets.map(({ hash }) => findKeyId(tables)(hash)))
  expect(known.filter(Boolean)).toHaveLength(2)
  expect((await fresh(key)).version).toBe(11)
})

/** A transaction that names an item twice is refused in AWS; DynamoDB Local looks at its conditions first. */
function asInAws(): Tables {
  return transactingBy((transaction, signal) => {
    const items = transaction.items.map((item) => {
      const { pk, sk } = 'Put' in item ? item.Put.Item : (Object.values(item)[0] as { Key: Item }).Key
      return `${pk} ${sk}`
    })
    if (new Set(items).size < items.length) throw new Error(`An item is named twice: ${items.join(', ')}`)
    return tables.database.transact(transaction, signal)
  })
}

function transactingBy(transact: Database['transact']): Tables {
  return { ...tables, database: { ...tables.database, transact } }
}

test.each([
  ['with a grace period', GRACE_MS],
  ['without one', 0],
])('a rotation %s that is sent again after a later one changes nothing, and is no failure', async (_, graceMs) => {
  const key = await issue()
  const [first, second] = [nextSecret(), nextSecret()]
  const act = actAt(NOW)
  await rotateKey(tables)(key.id, first, act, graceMs)
  const later = await rotateKey(tables)(key.id, second, actAt(NOW + 1))
  expect(await rotateKey(asInAws())(key.id, first, act, graceMs)).toEqual(later)
})

test('a rotation to the secret that is current already is not made a second time', async () => {
  const key = await issue()
  const next = nextSecret()
  const once = await rotateKey(tables)(key.id, next, actAt(NOW))
  expect(await rotateKey(tables)(key.id, next, actAt(NOW + 1))).toMatchObject({ key: once.changed && once.key })
  expect(once).toEqual({ changed: true, key: await fresh(key) })
  expect(await findKeyId(tables)(key.current.hash)).toBe(key.id)
})

test('a change shows the whole key, with the counters and holds of its requests', async () => {
  const key = await issue()
  const demand = demandAt(key, NOW, { hold: 3n, holdUntilMs: NOW + 1 })
  await takeAdmission(tables)(key, demand)
  const changes = [
    () => updateKey(tables)(key.id, { rpm: 5 }, actAt()),
    () => rotateKey(tables)(key.id, nextSecret(), actAt(NOW)),
    () => endGrace(tables)(key.id, actAt()),
    // There is no grace any more.
    () => endGrace(tables)(key.id, actAt()),
    () => grantCredits(tables)(key.id, 1n, actAt(NOW)),
    () => revokeKey(tables)(key.id, actAt(NOW)),
  ]
  for (const change of changes) expect(await change()).toMatchObject({ changed: true, key: await fresh(key) })
  expect(await fresh(key)).toMatchObject({
    counts: { dailyLimit: { '2026-11-15': 1n } },
    holds: { [demand.requestId]: { amount: 3n } },
  })
})

describe('an act ends within its time', () => {
  const MOST_MS = 800

  async function timed<T>(work: () => Promise<T>) {
    const startedMs = Date.now()
    const ended = await work().catch((error: unknown) => error)
    // A slow machine needs more; an act that is not bounded has 25 seconds.
    expect(Date.now() - startedMs).toBeLessThan(MOST_MS + 9_000)
    return ended
  }

  function always(code: string) {
    const count = { sent: 0, tokens: new Set<string | undefined>() }
    const busy = transactingBy(({ token }) => {
      count.sent += 1
      count.tokens.add(token)
      return Promise.reject(canceled(code))
    })
    return { count, tables: busy }
  }

  test('as rejected, where every write meets a conflict: only the write itself is tried again', async () => {
    const key = await issue()
    const { count, tables: busy } = always('TransactionConflict')
    const error = await timed(() => rotateKey(busy)(key.id, nextSecret(), actAt(NOW, 'test', MOST_MS)))
    expect([wasTransactionRejected(error), count.sent > 3, count.sent < 40]).toEqual([true, true, true])
    expect([count.tokens.size, [...count.tokens]]).toEqual([1, [expect.any(String)]])
    expect((await fresh(key)).version).toBe(1)
  })

  test('as a conflict, where others always come first', async () => {
    const key = await issue()
    let others = 0
    const busy = transactingBy(async (transaction, signal) => {
      others += 1
      await updateKey(tables)(key.id, { rpm: others }, actAt(NOW))
      return tables.database.transact(transaction, signal)
    })
    const error = await timed(() => rotateKey(busy)(key.id, nextSecret(), actAt(NOW, 'test', MOST_MS)))
    // Its time may also end while another's change is being made.
    expect(['VersionConflict', 'TimeoutError', 'WriteOutcomeUnknown']).toContain((error as Error).constructor.name)
    expect(others).toBeGreaterThan(0)
    expect((await fresh(key)).current).toEqual(key.current)
  })

  test('at once, where nobody came first and another change has its id', async () => {
    const [key, other] = [await issue(), await issue()]
    const act = actAt(NOW)
    expect((await grantCredits(tables)(other.id, 1n, act)).changed).toBe(true)
    const error = await timed(() => rotateKey(tables)(key.id, nextSecret(), act))
    expect(error).toEqual(new Error(`The change ${act.id} of the key ${key.id} contradicts another.`))
  })

  test.each<[string, () => Promise<unknown>, boolean]>([
    ['as unknown, where the database never answers', () => new Promise(() => {}), false],
    ['as done, where the database answers late', () => new Promise((done) => setTimeout(done, 200)), true],
  ])('%s', async (_, delay, isDone) => {
    const { line, far } = await openLine()
    const key = await issue()
    line.delay = (operation) => (operation === 'TransactWriteItems' ? delay() : Promise.resolve())
    const ended = await timed(() => grantCredits(far)(key.id, 1n, actAt(NOW, 'test', MOST_MS)))
    expect([ended instanceof WriteOutcomeUnknown, (await fresh(key)).granted]).toEqual([
      !isDone,
      key.granted + (isDone ? 1n : 0n),
    ])
  })

  test('without a write, where its time was over before', async () => {
    const key = await issue()
    await expect(grantCredits(tables)(key.id, 1n, actAt(NOW, 'test', 0))).rejects.toThrow('no time left')
    expect((await fresh(key)).granted).toBe(key.granted)
  })
})
