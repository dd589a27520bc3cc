import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, jest, test } from '@jest/globals'
import { ADMIN_ROUTES } from '../../layers/admin/api/route-table.ts'
import type { List } from '../../layers/admin/api/shapes/answers.ts'
import type { EventShape } from '../../layers/admin/api/shapes/books.ts'
import { DAY_MS, utcDay } from '../../layers/gateway/domain/time.ts'
import { writeCatalog } from '../../layers/gateway/store/catalog/write-catalog.ts'
import { openOperatorTables } from '../../layers/gateway/store/operator-tables.ts'
import { noteClosing } from '../../layers/gateway/store/usage/closing.ts'
import { adminOf, once } from '../admin-api/support/admin.ts'
import { type DynamoDbProxy, startDynamoDbProxy } from '../deployed/support/dynamodb-proxy.ts'
import { type ManagedPolicy, managedPolicy } from '../deployed/support/managed-policy.ts'
import { type SecretsManager, secretFor, startSecretsManager } from '../deployed/support/secrets-manager.ts'
import { actAt } from '../support/act.ts'
import { waybill } from '../support/command-line.ts'
import { catalogFor, type TestGateway } from '../support/gateway.ts'
import { emptyFolder } from '../support/processes.ts'
import { openBoth, openStage } from '../support/stack.ts'
import { CALLER, type Stage } from '../support/stage.ts'

jest.setTimeout(180_000)

const FOLDER = emptyFolder()
const FILE = join(FOLDER, 'catalog.json')
const LIST = join(FOLDER, 'api.json')
const BILL = join(FOLDER, 'activity.json')
let gateway: TestGateway
let stage: Stage
let dynamodb: DynamoDbProxy
let secrets: SecretsManager
let operator: ManagedPolicy
let reader: ManagedPolicy
const id = { key: '', request: '', adminKey: '' }

beforeAll(async () => {
  const both = await openBoth()
  gateway = both.gateway
  const listed = { id: 'upstream-model', cost: { input: 1, output: 2 } }
  writeFileSync(LIST, JSON.stringify({ up: { id: 'up', models: { 'upstream-model': listed } } }))
  writeFileSync(
    BILL,
    JSON.stringify({ data: [{ date: utcDay(Date.now() - DAY_MS), model: 'a', endpoint_id: 'e', usage: 1 }] }),
  )
  writeFileSync(FILE, JSON.stringify(catalogFor(both.upstream.url, {}, { apiKey: 'secret:up' })))
  await writeCatalog(gateway.tables)(catalogFor(both.upstream.url, { id: 'second' }), actAt())
  stage = await openStage(gateway.tables, gateway.baseUrl)
  dynamodb = await startDynamoDbProxy(process.env.TEST_DYNAMODB ?? '')
  secrets = await startSecretsManager({ 'waybill/dev/up': secretFor(both.upstream.url, 'key-of-the-provider') })
  operator = await managedPolicy('WaybillOperator', gateway.tables)
  reader = await managedPolicy('WaybillReader', gateway.tables)
  await noteClosing(gateway.tables)({ closedThrough: '2026-01-31' })
  const { key, secret } = await gateway.issue()
  const answer = await gateway.get(secret, '/v1/models')
  const adminKey = await stage.waybill(['admin-keys', 'create', ...ADMIN_KEY, '--stage', 'dev', '--json'])
  const { id: adminKeyId } = JSON.parse(adminKey.stdout)
  Object.assign(id, { key: key.id, request: answer.headers.get('x-request-id'), adminKey: adminKeyId })
})
afterAll(async () => {
  await dynamodb[Symbol.asyncDispose]()
  await secrets[Symbol.asyncDispose]()
})

const ADMIN_KEY = ['--name', 'x', '--scopes', 'keys.read', '--allow', '192.0.2.0/24', '--daily-grant', '5']

/** The calls of each command to the tables, by its name. */
const READING: Record<string, () => string[]> = {
  'keys list': () => ['--external-id', 'cus_1'],
  'keys show': () => [id.key],
  'keys grants': () => [id.key],
  'admin-keys list': () => [],
  'usage list': () => [],
  'usage show': () => [id.request],
  'usage export': () => ['--from', '2026-01-01'],
  'usage summary': () => ['--key', id.key],
  'catalog show': () => ['--at', '2999-01-01'],
  'catalog versions': () => [],
  'catalog diff': () => [],
  'routes list': () => [],
  'catalog check': () => [FILE],
  'events list': () => ['--key', id.key],
  audit: () => [],
  // A month that is closed, and has no usage.
  invoice: () => ['--month', '2026-01'],
  'catalog prices': () => ['--from', LIST, '--check'],
  reconcile: () => ['--provider', 'up', '--bill', BILL, '--from', 'yesterday'],
}
const CHANGING: Record<string, () => string[]> = {
  'keys create': () => ['--name', 'new', '--credits', '2', '--external-id', 'cus_1'],
  'keys update': () => [id.key, '--rpm', '7', '--external-id', 'cus_2'],
  'keys grant': () => [id.key, '5', '--reference', 'INV-1'],
  'keys rotate': () => [id.key],
  'keys end-grace': () => [id.key],
  'keys suspend': () => [id.key],
  'keys resume': () => [id.key],
  'keys revoke': () => [id.key],
  'admin-keys create': () => ADMIN_KEY,
  'admin-keys rotate': () => [id.adminKey],
  'admin-keys revoke': () => [id.adminKey],
  'catalog rollback': () => ['1'],
  'catalog push': () => [FILE],
}
/** It changes nothing in the tables, but reads the keys of providers. */
const TESTING: Record<string, () => string[]> = { 'routes test': () => [] }
/** They end with 1 for what they find: no price of this catalog is in a list, and a bill has no answer of it. */
const FINDING = ['catalog prices', 'reconcile']
/** They go on until they are ended: calls of the console are tried route by route, and the tail's is that of the list. */
const SERVING = ['console', 'usage tail']
/** They ask no gateway. */
const ALONE = ['completion', 'import litellm', 'init', 'use']
/** For who deploys: rights of CloudFormation, or none at all on one machine. */
const DEPLOYING = ['bootstrap', 'deploy', 'destroy', 'diff', 'preflight', 'start']

/** How an audit ended, which who may only look cannot note: test/admin-api/usage.test.ts has the audit go on. */
const NOTE = 'AUDIT'

const access = () => ({
  AWS_ENDPOINT_URL_DYNAMODB: dynamodb.endpoint,
  AWS_ENDPOINT_URL_SECRETS_MANAGER: secrets.endpoint,
})

async function callsOf(name: string, args: readonly string[]) {
  const before = dynamodb.calls.length
  const { code, stderr } = await stage.waybill([...name.split(' '), ...args, '--stage', 'dev'], access())
  if (FINDING.includes(name)) expect(stderr).not.toMatch(/not authorized|AccessDenied/)
  else expect({ name, code, stderr: code === 0 ? '' : stderr }).toEqual({ name, code: 0, stderr: '' })
  const calls = dynamodb.calls.slice(before)
  expect(calls.length).toBeGreaterThan(0)
  return calls
}

const isWrite = ({ operation }: { operation: string }) =>
  !['GetItem', 'BatchGetItem', 'Query', 'Scan'].includes(operation)

test('every command of the command line is tried here with the rights of its policy', async () => {
  const commandsOf = async (...group: string[]) => {
    const { stdout } = await waybill(emptyFolder(), [...group, '--help'])
    const [, list = ''] = stdout.split('\nCommands:\n')
    return [...list.matchAll(/^ {2}([a-z-]+)/gm)].flatMap(([, name = '']) => (name === 'help' ? [] : [name]))
  }
  const names: string[] = []
  for (const group of await commandsOf()) {
    const inside = await commandsOf(group)
    names.push(...(inside.length > 0 ? inside.map((name) => `${group} ${name}`) : [group]))
  }
  const tried = [...Object.keys({ ...READING, ...CHANGING, ...TESTING }), ...SERVING, ...ALONE, ...DEPLOYING, 'smoke']
  expect(names.sort()).toEqual(tried.sort())
})

test('waybill smoke needs no more than the operator’s policy', async () => {
  const { code, stdout } = await stage.start('operator/waybill.ts', ['smoke', '--stage', 'dev'], access()).ended
  expect({ code, stdout }).toMatchObject({ code: 0 })
  expect(dynamodb.calls.filter(isWrite).length).toBeGreaterThan(2)
  expect(dynamodb.calls.filter((call) => !operator.allows(call))).toEqual([])
})

test.each(Object.keys(READING))(
  'waybill %s needs no more than the reader’s policy, nor than the operator’s',
  async (name) => {
    const calls = (await callsOf(name, READING[name]?.() ?? [])).filter(({ leadingKey }) => leadingKey !== NOTE)
    expect(calls.filter((call) => !reader.allows(call) || !operator.allows(call))).toEqual([])
  },
)

test.each(Object.keys(CHANGING))(
  'waybill %s needs no more than the operator’s policy, and the reader’s forbids it',
  async (name) => {
    const calls = await callsOf(name, CHANGING[name]?.() ?? [])
    expect(calls.filter((call) => !operator.allows(call))).toEqual([])
    const writes = calls.filter(isWrite)
    expect(writes.filter((call) => reader.allows(call))).toEqual([])
    expect(writes.length).toBeGreaterThan(0)
  },
)

test('every event that a command wrote names the caller’s ARN, which STS was asked for once a change and never to look', async () => {
  const asked = stage.identified
  const { stdout } = await stage.waybill(['events', 'list', '--json', '--stage', 'dev'], access())
  const { data: events } = JSON.parse(stdout) as List<EventShape>
  expect(new Set(events.map(({ by }) => by))).toEqual(new Set([CALLER, 'test']))
  expect(stage.identified).toBe(asked)
  await stage.waybill(['keys', 'create', '--name', 'one more', '--stage', 'dev'], access())
  expect(stage.identified).toBe(asked + 1)
})

test('waybill routes test needs no more than the operator’s policy, which has the stage’s secrets, and the reader’s has none', async () => {
  const calls = await callsOf('routes test', [])
  expect(calls.filter((call) => !operator.allows(call))).toEqual([])
  expect(secrets.asked).toEqual(['waybill/dev/up'])
  const secretRights = ({ statements }: ManagedPolicy) =>
    statements.filter(({ Action }) => [Action].flat().includes('secretsmanager:GetSecretValue'))
  expect(JSON.stringify(secretRights(operator))).toContain(':secret:waybill/dev/*"')
  expect(secretRights(reader)).toEqual([])
})

test('waybill routes test says why a secret could not be read, and does not blame the provider for it', async () => {
  const secretsAway = { ...access(), AWS_ENDPOINT_URL_SECRETS_MANAGER: 'http://127.0.0.1:1' }
  const { code, stdout } = await stage.waybill(['routes', 'test', '--stage', 'dev'], secretsAway)
  expect([code, stdout]).toEqual([1, expect.stringMatching(/\(secret:up\) could not be read.*AWS cannot be reached/)])
})

test('waybill --stage asks CloudFormation for no stack but the one that both policies name', () => {
  expect(new Set(stage.asked)).toEqual(new Set(['Waybill-dev']))
  for (const { statements } of [operator, reader]) {
    const [right] = statements.filter(({ Action }) => Action === 'cloudformation:DescribeStacks')
    expect(right?.Resource).toEqual({ Ref: 'AWS::StackId' })
  }
})

test('every route of the admin API needs no more than the operator’s policy, and none that only looks more than the reader’s', async () => {
  const { keys, usage, answers } = gateway.tables
  const tables = openOperatorTables(
    { keysTable: keys, usageTable: usage, answersTable: answers },
    { endpoint: dynamodb.endpoint },
  )
  const admin = adminOf(tables)
  const requestId = id.request
  const made = await admin.call('POST /keys', { body: { name: 'api', credits: '1' }, headers: once() })
  const own: string = made.body.id
  const [{ version }] = (await admin.call('GET /catalog/versions')).body.data
  const body: Record<string, object> = {
    'POST /keys': { name: 'other', external_id: 'cus_api' },
    'PATCH /keys/{id}': { rpm: 3 },
    'POST /keys/{id}/revoke': { confirm: 'api' },
    'POST /keys/{id}/grants': { credits: '1' },
    'PUT /catalog': catalogFor('https://up.example/v1'),
    'POST /catalog/check': catalogFor('https://up.example/v1'),
    'POST /routes/test': { model: 'none' },
  }
  // A revoked key takes no more changes.
  const last = (path: string) => Number(path.endsWith('/revoke'))
  for (const { method, path, scope } of ADMIN_ROUTES.toSorted((a, b) => last(a.path) - last(b.path))) {
    const before = dynamodb.calls.length
    const seen = path.startsWith('/catalog')
      ? version + Number(path !== '/catalog')
      : (await gateway.readKey(own)).version
    const address = path.replace('{id}', path.startsWith('/requests') ? requestId : own).replace('{version}', '1')
    const query = path === '/search' ? '?q=api' : ''
    const sent = { body: body[`${method} ${path}`] ?? {}, headers: { ...once(), 'if-match': `"${seen}"` } }
    const { status } = await admin.call(`${method} ${address}${query}`, sent)
    expect([method, path, status]).toEqual([method, path, path === '/routes/test' ? 409 : expect.any(Number)])
    expect([path, status < 300 || path === '/routes/test']).toEqual([path, true])
    const calls = dynamodb.calls.slice(before).filter(({ leadingKey }) => leadingKey !== NOTE || scope !== 'usage.read')
    expect(calls.filter((call) => !operator.allows(call))).toEqual([])
    const onlyLooks = scope === undefined || scope.endsWith('.read')
    if (onlyLooks) expect([path, calls.filter((call) => !reader.allows(call))]).toEqual([path, []])
    else if (path !== '/routes/test' && path !== '/keys/{id}/end-grace') expect(calls.some(isWrite)).toBe(true)
  }
  tables.client.destroy()
})

describe('what no policy allows', () => {
  const WRITES = ['PutItem', 'UpdateItem', 'DeleteItem', 'BatchWriteItem', 'PartiQLUpdate']
  const items = () => {
    const { keys, usage, answers } = gateway.tables
    const ofKeys = [
      'KEY#key_1',
      'HASH#1',
      'EXTERNAL#1',
      'REFERENCE#1',
      'EVENT#key_1',
      'CLAIM#1',
      'VERSIONS',
      'CATALOG',
      'AUDIT',
    ].map((leadingKey) => ({
      table: keys,
      leadingKey,
    }))
    return [...ofKeys, ...[usage, answers].map((table) => ({ table, leadingKey: 'x' }))]
  }
  const allowed = (policy: ManagedPolicy) =>
    WRITES.flatMap((operation) => items().map((item) => ({ operation, ...item }))).filter((call) => policy.allows(call))

  test('the reader’s policy allows no write to any table', () => {
    expect(allowed(reader)).toEqual([])
  })

  test('the operator’s policy lets nobody change a usage row, read or change a kept answer, or delete a key, an event or a version of the catalog', () => {
    const { usage, answers, keys } = gateway.tables
    const calls = allowed(operator)
    expect(calls.filter(({ table }) => table === usage || table === answers)).toEqual([])
    expect(operator.allows({ operation: 'GetItem', table: answers, leadingKey: 'x' })).toBe(false)
    expect(calls.filter(({ operation }) => operation === 'DeleteItem')).toEqual([
      { operation: 'DeleteItem', table: keys, leadingKey: 'HASH#1' },
      { operation: 'DeleteItem', table: keys, leadingKey: 'EXTERNAL#1' },
    ])
  })
})
