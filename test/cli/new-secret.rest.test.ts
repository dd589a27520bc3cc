import { beforeAll, beforeEach, expect, test } from '@jest/globals'
import type { Key } from '../../layers/gateway/domain/keys/key.ts'
import { revokeKey } from '../../layers/gateway/store/keys/rotate-key.ts'
import { actAt } from '../support/act.ts'
import { type TestGateway, tablesAt } from '../support/gateway.ts'
import type { Ended } from '../support/processes.ts'
import { openBoth } from '../support/stack.ts'
import { startStage } from '../support/stage.ts'
import { startUnreliableDynamoDb, type Treatment, type UnreliableDynamoDb } from '../support/unreliable-dynamodb.ts'

/** Short, so that the tests need not wait for the end of a usual one. */
const ACT_MS = 2_000
/** A call is sent again for half a second. */
const CALL_MS = 30_500
const SECRET = /svc_live_[0-9A-Za-z]{43}/
let gateway: TestGateway
let key: Key
let oldSecret: string

beforeAll(async () => {
  gateway = (await openBoth()).gateway
})
beforeEach(async () => {
  const issued = await gateway.issue()
  key = issued.key
  oldSecret = issued.secret
})

type Call = { readonly operation: string; readonly number: number; readonly writes: number }

/** Runs the command over a connection on which the test decides the fate of each call to the database. */
async function over(treat: (call: Call) => Treatment, ...args: string[]): Promise<Ended> {
  await using line: UnreliableDynamoDb = await startUnreliableDynamoDb(process.env.TEST_DYNAMODB ?? '')
  let number = 0
  let writes = 0
  line.treat = (operation) => {
    number += 1
    if (operation === 'TransactWriteItems') writes += 1
    return treat({ operation, number, writes })
  }
  const tables = tablesAt(gateway.tables, line.endpoint)
  await using stage = await startStage(tables, gateway.baseUrl, 'dev', { actMs: ACT_MS, callMs: CALL_MS })
  return await stage.waybill(['keys', ...args, '--stage', 'dev'])
}

const isWrite = ({ operation }: Call) => operation === 'TransactWriteItems'
const statusOf = async (secret: string) => (await gateway.get(secret, '/v1/models')).status
const secretIn = ({ stdout }: Ended) => SECRET.exec(stdout)?.[0] ?? ''

test.each<[string, (call: Call) => Treatment]>([
  ['nothing can be read after the write', (call) => (call.writes > 0 && !isWrite(call) ? 'cut off' : 'answer')],
  ['the answer is lost once', (call) => (isWrite(call) && call.writes === 1 ? 'lose the answer' : 'answer')],
  ['no answer comes to the write itself', (call) => (isWrite(call) ? 'lose the answer' : 'answer')],
])('waybill keys rotate rotates once, reports success and shows the new secret if %s', async (_, treat) => {
  const ended = await over(treat, 'rotate', key.id)
  expect([ended.code, ended.stderr]).toEqual([0, ''])
  expect(ended.stdout).toContain(`…${key.current.lastFour} valid until `)
  expect([await statusOf(secretIn(ended)), await statusOf(oldSecret)]).toEqual([200, 200])
  expect((await gateway.readKey(key.id)).version).toBe(key.version + 1)
})

test('waybill keys rotate shows the secret and calls the outcome unknown if no answer comes', async () => {
  const silent = (call: Call) => (isWrite(call) ? 'cut off' : 'answer')
  const [people, json] = [await over(silent, 'rotate', key.id), await over(silent, 'rotate', key.id, '--json')]
  expect([people.code, json.code]).toEqual([1, 1])
  const secret = secretIn(people)
  expect(people.stdout).toMatch(/It is not known whether this was saved \(.+\): try it, or look with/)
  expect(people.stdout).toContain(
    `'waybill keys show ${key.id}' whether the key ends in …${secret.slice(-4)}; if not, rotate again.`,
  )
  const value = JSON.parse(json.stdout)
  expect(value).toEqual({
    id: key.id,
    last_four: value.secret.slice(-4),
    secret: expect.any(String),
    saved: 'unknown',
  })
  expect([await statusOf(secret), await statusOf(value.secret)]).toEqual([401, 401])
})

test.each<[string, (call: Call) => Treatment]>([
  ['the write was throttled', (call) => (isWrite(call) ? 'throttle' : 'answer')],
  ['the database cannot be reached at all', () => 'cut off'],
])('waybill keys rotate shows no secret if %s', async (_, treat) => {
  const ended = await over(treat, 'rotate', key.id, '--json')
  expect([ended.code, ended.stdout]).toEqual([1, ''])
  expect(ended.stderr).toMatch(/^The database did not answer\. [^.]*\.\n$/)
  expect((await gateway.readKey(key.id)).version).toBe(key.version)
})

test('waybill keys rotate shows no secret for a revoked or unknown key', async () => {
  await revokeKey(gateway.tables)(key.id, actAt())
  for (const id of [key.id, 'key_nope']) {
    const ended = await over(() => 'answer', 'rotate', id, '--json')
    expect([ended.code, ended.stdout]).toEqual([1, ''])
    expect(ended.stderr).toMatch(/is revoked|There is no key/)
  }
})

test('waybill keys create calls the outcome unknown if an answer is lost and the retry is throttled', async () => {
  const isClosed = (call: Call) => call.writes > 1 || (call.writes === 1 && !isWrite(call))
  const lost = (call: Call) => (isClosed(call) ? 'throttle' : isWrite(call) ? 'lose the answer' : 'answer')
  const ended = await over(lost, 'create', '--name', 'fresh', '--credits', '1')
  expect([ended.code, await statusOf(secretIn(ended))]).toEqual([1, 200])
  expect(ended.stdout).toMatch(
    /It is not known whether this was saved .*'waybill keys list'.*; if not, create one again\./,
  )
})
