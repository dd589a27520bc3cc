import { randomBytes } from 'node:crypto'
import { TransactionCanceledException } from '@aws-sdk/client-dynamodb'
import type { TransactWriteCommand } from '@aws-sdk/lib-dynamodb'
import { beforeAll, describe, expect, test } from '@jest/globals'
import { type Key, standingOf } from '../../layers/gateway/domain/keys/key.ts'
import { GRACE_MS } from '../../layers/gateway/domain/keys/key-settings.ts'
import { issueSecret, KEY_DEFAULTS } from '../../layers/gateway/domain/keys/new-key.ts'
import { takeAdmission } from '../../layers/gateway/store/admission/take-admission.ts'
import { grantCredits } from '../../layers/gateway/store/keys/grant-credits.ts'
import { findKeyId, readKey } from '../../layers/gateway/store/keys/read-key.ts'
import { endGrace, revokeKey, rotateKey } from '../../layers/gateway/store/keys/rotate-key.ts'
import { updateKey } from '../../layers/gateway/store/keys/update-key.ts'
import { type OperatorTables, openOperatorTables } from '../../layers/gateway/store/sdk/operator-tables.ts'
import { WriteOutcomeUnknown, wasTransactionRejected } from '../../layers/gateway/store/sdk/transact.ts'
import { issueKey } from '../../local/issue-key.ts'
import { actAt } from '../support/act.ts'
import { demandOf } from '../support/demand.ts'
import { openTestTables } from '../support/gateway.ts'
import { startUnreliableDynamoDb } from '../support/unreliable-dynamodb.ts'

const NOW = Date.UTC(2026, 10, 15, 12)
let tables: OperatorTables

beforeAll(async () => {
  tables = await openTestTables()
})

async function issue(): Promise<Key> {
  const options = { settings: { ...KEY_DEFAULTS, name: 'test' }, credits: 5n, prefix: 'svc_live_', by: 'test' }
  return (await issueKey(tables, options, NOW)).key
}
const nextSecret = () => issueSecret('svc_live_', randomBytes).stored
const fresh = async (key: Key): Promise<Key> => (await readKey(tables)(key.id)) as Key

test('a rotation keeps the old secret valid for 60 minutes, to the millisecond', async () => {
  const key = await issue()
  await rotateKey(tables)(key.id, nextSecret(), actAt(NOW))
  const rotated = await fresh(key)
  expect(standingOf(rotated, key.current.hash, NOW + GRACE_MS - 1)).toBe('grace')
  expect(standingOf(rotated, key.current.hash, NOW + GRACE_MS)).toBe('refused')
  expect(await findKeyId(tables)(key.current.hash)).toBe(key.id)
})

test('a second rotation within the grace of the first retires the oldest secret at once', async () => {
  const key = await issue()
  const second = nextSecret()
  await rotateKey(tables)(key.id, second, actAt(NOW))
  await rotateKey(tables)(key.id, nextSecret(), actAt(NOW + 1))
  expect(await findKeyId(tables)(key.current.hash)).toBeUndefined()
  expect(standingOf(await fresh(key), key.current.hash, NOW + 2)).toBe('refused')
  expect(standingOf(await fresh(key), second.hash, NOW + 2)).toBe('grace')
})

test('ten rotations at once all happen, one after another, and only the last two secrets are known', async () => {
  const key = await issue()
  const secrets = Array.from({ length: 10 }, nextSecret)
  await Promise.all(secrets.map((secret) => rotateKey(tables)(key.id, secret, actAt(NOW))))
  const known = await Promise.all(secrets.map(({ hash }) => findKeyId(tables)(hash)))
  expect(known.filter(Boolean)).toHaveLength(2)
  expect((await fresh(key)).version).toBe(11)
})

/** A transaction that names an item twice is refused in AWS; DynamoDB Local looks at its conditions first. */
function asInAws({ onceClient, ...others }: OperatorTables): OperatorTables {
  const send = (command: TransactWriteCommand) => {
    const items = (command.input.TransactItems ?? []).map(({ Put, Update, Delete }) => {
      const item = Put?.Item ?? Update?.Key ?? Delete?.Key
      return `${item?.pk} ${item?.sk}`
    })
    if (new Set(items).size < items.length) throw new Error(`An item is named twice: ${items.join(', ')}`)
    return onceClient.send(command)
  }
  return { ...others, onceClient: { send } as never }
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
  expect(await rotateKey(asInAws(tables))(key.id, first, act, graceMs)).toEqual(later)
})

test('a rotation to the secret that is current already is not made a second time', async () => {
  const key = await issue()
  const next = nextSecret()
  const once = await rotateKey(tables)(key.id, next, actAt(NOW))
  expect(await rotateKey(tables)(key.id, next, actAt(NOW + 1))).toEqual(once)
  expect(once).toEqual({ changed: true, key: await fresh(key) })
  expect(await findKeyId(tables)(key.current.hash)).toBe(key.id)
})

test('a change shows the whole key, with the counters and holds of its requests', async () => {
  const key = await issue()
  const demand = demandOf(key, NOW, { hold: 3n, holdUntilMs: NOW + 1 })
  await takeAdmission(tables)(key, demand)
  const changes = [
    () => updateKey(tables)(key.id, { rpm: 5 }, actAt()),
    () => rotateKey(tables)(key.id, nextSecret(), actAt(NOW)),
    () => endGrace(tables)(key.id, actAt()),
    () => grantCredits(tables)(key.id, 1n, actAt(NOW)),
    () => revokeKey(tables)(key.id, actAt(NOW)),
  ]
  for (const change of changes) expect(await change()).toEqual({ changed: true, key: await fresh(key) })
  expect(await fresh(key)).toMatchObject({
    counts: { dailyLimit: { '2026-11-15': 1n } },
    holds: { [demand.requestId]: { amount: 3n } },
  })
})

test('an end of grace forgets the old secret at once, and is harmless without one', async () => {
  const key = await issue()
  await rotateKey(tables)(key.id, nextSecret(), actAt(NOW))
  expect((await endGrace(tables)(key.id, actAt())).changed).toBe(true)
  expect((await endGrace(tables)(key.id, actAt())).changed).toBe(true)
  expect(await findKeyId(tables)(key.current.hash)).toBeUndefined()
  expect((await fresh(key)).previous).toBeUndefined()
})

test('a revoked key loses both secrets at once and cannot be changed again', async () => {
  const key = await issue()
  const second = nextSecret()
  await rotateKey(tables)(key.id, second, actAt(NOW))
  await revokeKey(tables)(key.id, actAt(NOW))
  expect(await findKeyId(tables)(key.current.hash)).toBeUndefined()
  expect(await findKeyId(tables)(second.hash)).toBeUndefined()
  expect((await fresh(key)).status).toBe('revoked')
  for (const again of [
    rotateKey(tables)(key.id, nextSecret(), actAt(NOW)),
    updateKey(tables)(key.id, { rpm: 5 }, actAt()),
    grantCredits(tables)(key.id, 5n, actAt(NOW)),
    revokeKey(tables)(key.id, actAt(NOW)),
  ]) {
    expect(await again).toEqual({ changed: false, why: 'revoked' })
  }
})

test('50 grants at once all count', async () => {
  const key = await issue()
  await Promise.all(Array.from({ length: 50 }, () => grantCredits(tables)(key.id, 2n, actAt(NOW))))
  expect(await fresh(key)).toMatchObject({ granted: 105n, available: 105n })
})

test('a grant to a key that does not exist is refused', async () => {
  expect(await grantCredits(tables)('key_none', 1n, actAt(NOW))).toEqual({ changed: false, why: 'no_such_key' })
})

test('a grant that conflicts with another write to the key is tried again', async () => {
  const key = await issue()
  let conflicts = 2
  const send = (command: { constructor: { name: string } }) => {
    if (command.constructor.name !== 'TransactWriteCommand' || conflicts-- <= 0)
      return tables.onceClient.send(command as never)
    return Promise.reject(
      new TransactionCanceledException({
        message: 'conflict',
        $metadata: {},
        CancellationReasons: [{ Code: 'TransactionConflict' }],
      }),
    )
  }
  const busy = { ...tables, onceClient: { send } as never }
  expect((await grantCredits(busy)(key.id, 1n, actAt(NOW))).changed).toBe(true)
  expect((await fresh(key)).granted).toBe(6n)
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
    const send = ({ input }: TransactWriteCommand) => {
      count.sent += 1
      count.tokens.add(input.ClientRequestToken)
      const CancellationReasons = [{ Code: code }]
      return Promise.reject(new TransactionCanceledException({ message: code, $metadata: {}, CancellationReasons }))
    }
    return { count, tables: { ...tables, onceClient: { send } as never } }
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
    const send = async (command: TransactWriteCommand, options: object) => {
      others += 1
      await updateKey(tables)(key.id, { rpm: others }, actAt(NOW))
      return tables.onceClient.send(command, options)
    }
    const busy = { ...tables, onceClient: { send } as never }
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
    await using line = await startUnreliableDynamoDb(process.env.TEST_DYNAMODB ?? '')
    const names = { keysTable: tables.keys, usageTable: tables.usage, answersTable: tables.answers }
    const slow = openOperatorTables(names, { endpoint: line.endpoint })
    const key = await issue()
    line.delay = (operation) => (operation === 'TransactWriteItems' ? delay() : Promise.resolve())
    const ended = await timed(() => grantCredits(slow)(key.id, 1n, actAt(NOW, 'test', MOST_MS)))
    expect([ended instanceof WriteOutcomeUnknown, (await fresh(key)).granted]).toEqual([!isDone, isDone ? 6n : 5n])
    slow.client.destroy()
  })

  test('without a write, where its time was over before', async () => {
    const key = await issue()
    await expect(grantCredits(tables)(key.id, 1n, actAt(NOW, 'test', 0))).rejects.toThrow('no time left')
    expect((await fresh(key)).granted).toBe(5n)
  })
})
