import { randomBytes } from 'node:crypto'
import { TransactionCanceledException } from '@aws-sdk/client-dynamodb'
import type { TransactWriteCommand } from '@aws-sdk/lib-dynamodb'
import { beforeAll, expect, test } from '@jest/globals'
import { type Key, standingOf } from '../../layers/gateway/domain/key.ts'
import { GRACE_MS } from '../../layers/gateway/domain/key-settings.ts'
import { issueSecret, KEY_DEFAULTS } from '../../layers/gateway/domain/new-key.ts'
import { takeAdmission } from '../../layers/gateway/store/admission/take-admission.ts'
import { endGrace } from '../../layers/gateway/store/keys/end-grace.ts'
import { findKeyId } from '../../layers/gateway/store/keys/find-key-id.ts'
import { grantCredits } from '../../layers/gateway/store/keys/grant-credits.ts'
import { readKey } from '../../layers/gateway/store/keys/read-key.ts'
import { revokeKey } from '../../layers/gateway/store/keys/revoke-key.ts'
import { rotateKey } from '../../layers/gateway/store/keys/rotate-key.ts'
import { updateKey } from '../../layers/gateway/store/keys/update-key.ts'
import type { OperatorTables } from '../../layers/gateway/store/operator-tables.ts'
import { issueKey } from '../../operator/issue-key.ts'
import { actAt } from '../support/act.ts'
import { openTestTables } from '../support/gateway.ts'
import { requestIdAt } from '../support/request-id.ts'

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
function asInAws({ client, ...others }: OperatorTables): OperatorTables {
  const send = (command: TransactWriteCommand) => {
    const items = (command.input.TransactItems ?? []).map(({ Put, Update, Delete }) => {
      const item = Put?.Item ?? Update?.Key ?? Delete?.Key
      return `${item?.pk} ${item?.sk}`
    })
    if (new Set(items).size < items.length) throw new Error(`An item is named twice: ${items.join(', ')}`)
    return client.send(command)
  }
  return { ...others, client: { send } as never }
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
  const demand = { requestId: requestIdAt(NOW), hash: key.current.hash, nowMs: NOW, hold: 3n, holdUntilMs: NOW + 1 }
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
      return tables.client.send(command as never)
    return Promise.reject(
      new TransactionCanceledException({
        message: 'conflict',
        $metadata: {},
        CancellationReasons: [{ Code: 'TransactionConflict' }],
      }),
    )
  }
  const busy = { ...tables, client: { send } as never }
  expect((await grantCredits(busy)(key.id, 1n, actAt(NOW))).changed).toBe(true)
  expect((await fresh(key)).granted).toBe(6n)
})
