import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from '@jest/globals'
import { DAY_MS, utcDay } from '../../layers/gateway/domain/basics/time.ts'
import { writeCatalog } from '../../layers/gateway/store/catalog/write-catalog.ts'
import { noteClosing } from '../../layers/gateway/store/rows/closing.ts'
import { adminOf } from '../admin-api/support/admin.ts'
import { goodCalls } from '../admin-api/support/good-calls.ts'
import { type DynamoDbProxy, startDynamoDbProxy } from '../deployed/support/dynamodb-proxy.ts'
import { managedPolicy } from '../deployed/support/managed-policy.ts'
import type { Role } from '../deployed/support/role.ts'
import { synthesize } from '../deployed/support/synthesize.ts'
import { actAt } from '../support/act.ts'
import { waybill } from '../support/command-line.ts'
import { catalogFor, type TestGateway, tablesAt } from '../support/gateway.ts'
import { emptyFolder } from '../support/processes.ts'
import type { Asked } from '../support/signed-admin.ts'
import { openBoth, openStage } from '../support/stack.ts'
import type { Stage } from '../support/stage.ts'

const FOLDER = emptyFolder()
const FILE = join(FOLDER, 'catalog.json')
const LIST = join(FOLDER, 'api.json')
const BILL = join(FOLDER, 'activity.json')
let gateway: TestGateway
let stage: Stage
let dynamodb: DynamoDbProxy
let role: Role
/** The calls to the admin API that a policy allows, as patterns of a method and a path. */
const allowed: Record<string, readonly string[]> = {}
const id = { key: '', request: '', adminKey: '', account: '' }

beforeAll(async () => {
  const both = await openBoth()
  gateway = both.gateway
  const listed = { id: 'upstream-model', cost: { input: 1, output: 2 } }
  writeFileSync(LIST, JSON.stringify({ up: { id: 'up', models: { 'upstream-model': listed } } }))
  writeFileSync(
    BILL,
    JSON.stringify({ data: [{ date: utcDay(Date.now() - DAY_MS), model: 'a', endpoint_id: 'e', usage: 1 }] }),
  )
  writeFileSync(FILE, JSON.stringify(catalogFor(both.upstream.url)))
  await writeCatalog(gateway.tables)(catalogFor(both.upstream.url, { id: 'second' }), actAt())
  dynamodb = await startDynamoDbProxy(process.env.TEST_DYNAMODB ?? '')
  stage = await openStage(tablesAt(gateway.tables, dynamodb.endpoint), gateway.baseUrl)
  const { keys, usage, answers } = gateway.tables
  const { optional, remove } = await synthesize({ keys, usage, answers, originSecret: '', nextOriginSecret: '' })
  role = optional.admin.role
  remove()
  for (const name of ['WaybillOperator', 'WaybillReader']) allowed[name] = await callsAllowed(name)
  await noteClosing(gateway.tables)({ closedThrough: '2026-01-31' })
  const { key, secret } = await gateway.issue()
  const account = await gateway.openAccount()
  const answer = await gateway.get(secret, '/v1/models')
  const adminKey = await stage.waybill(['admin-keys', 'create', ...ADMIN_KEY, '--stage', 'dev', '--json'])
  const { id: adminKeyId } = JSON.parse(adminKey.stdout)
  await stage.waybill(['plans', 'create', '--name', 'bronze', '--factor', '1.25', '--stage', 'dev'])
  Object.assign(id, {
    key: key.id,
    request: answer.headers.get('x-request-id'),
    adminKey: adminKeyId,
    account: account.id,
  })
})
afterAll(async () => {
  await dynamodb[Symbol.asyncDispose]()
})

/** Routes of the stack as it is deployed: `GET/admin/v1/*`. */
async function callsAllowed(name: string): Promise<readonly string[]> {
  const statements = await managedPolicy(name)
  const calls = statements.filter(({ Action }) => Action === 'execute-api:Invoke')
  return calls.flatMap(({ Resource }) =>
    [Resource].flat().map((it) => /\$default\/([^"]+)/.exec(JSON.stringify(it))?.[1] ?? ''),
  )
}

const mayCall = (name: string, { method, url }: Pick<Asked, 'method' | 'url'>) =>
  allowed[name]?.some((pattern) => {
    const [path = ''] = url.split('?')
    const like = new RegExp(`^${pattern.replaceAll('/', '\\/').replaceAll('*', '.*')}$`)
    return like.test(`${method}${path}`)
  }) === true

const ADMIN_KEY = ['--name', 'x', '--scopes', 'keys.read', '--allow', '192.0.2.0/24', '--daily-grant', '5']

/** Each command with its arguments, by its name. */
const READING: Record<string, () => string[]> = {
  'keys list': () => ['--external-id', 'cus_1'],
  'keys show': () => [id.key],
  'keys grants': () => [id.key],
  'accounts list': () => [],
  'accounts show': () => [id.account],
  'accounts grants': () => [id.account],
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
  statement: () => ['--month', '2026-01', '--account', id.account],
  notices: () => [],
  'export focus': () => ['--from', '2026-01-01', '--to', '2026-02-01'],
  'plans list': () => [],
  'plans show': () => ['bronze'],
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
  'accounts create': () => ['--name', 'new', '--credits', '2', '--external-id', 'cus_3'],
  'accounts update': () => [id.account, '--note', 'x', '--external-id', 'cus_4'],
  'accounts grant': () => [id.account, '5', '--reference', 'INV-1'],
  'accounts suspend': () => [id.account],
  'accounts resume': () => [id.account],
  'keys adopt': () => [id.key, '--account', id.account],
  'keys revoke': () => [id.key],
  'accounts close': () => [id.account],
  'admin-keys create': () => [...ADMIN_KEY, '--yes'],
  'admin-keys rotate': () => [id.adminKey],
  'admin-keys revoke': () => [id.adminKey],
  'plans create': () => ['--name', 'silver', '--factor', '1.1'],
  'plans update': () => ['bronze', '--factor', '1.3'],
  'catalog rollback': () => ['1'],
  'catalog push': () => [FILE],
}
/** They change nothing in the tables, but ask providers. */
const TESTING: Record<string, () => string[]> = { 'routes test': () => [] }
/** They end with 1 for what they find: no price of this catalog is in a list, and a bill has no answer of it. */
const FINDING = ['catalog prices', 'reconcile']
/** They go on until they are ended: calls of the console are tried route by route, and the tail's is that of the list. */
const SERVING = ['console', 'usage tail']
/** They ask no gateway. */
const ALONE = ['completion', 'import litellm', 'init', 'use']
/** For who deploys: rights of CloudFormation, or none at all on one machine. */
const DEPLOYING = ['bootstrap', 'deploy', 'destroy', 'diff', 'preflight', 'start']

/** Runs a command, and returns its calls to the admin API. Those of the function to the tables must be its role's. */
async function callsOf(name: string, args: readonly string[]): Promise<readonly Asked[]> {
  const before = dynamodb.calls.length
  stage.admin.asked.length = 0
  const { code, stderr } = await stage.waybill([...name.split(' '), ...args, '--stage', 'dev'])
  if (FINDING.includes(name)) expect(stderr).not.toMatch(/not authorized|AccessDenied/)
  else expect({ name, code, stderr: code === 0 ? '' : stderr }).toEqual({ name, code: 0, stderr: '' })
  expect(stage.admin.asked.length).toBeGreaterThan(0)
  expect(dynamodb.calls.slice(before).filter((call) => !role.allows(call))).toEqual([])
  return [...stage.admin.asked]
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

test.each(Object.keys(READING))('waybill %s needs no more than the reader’s policy', async (name) => {
  const calls = await callsOf(name, READING[name]?.() ?? [])
  expect(calls.filter((call) => !mayCall('WaybillReader', call) || !mayCall('WaybillOperator', call))).toEqual([])
})

test.each(Object.keys({ ...CHANGING, ...TESTING }))(
  'waybill %s needs no more than the operator’s policy, and the reader’s forbids it',
  async (name) => {
    const calls = await callsOf(name, { ...CHANGING, ...TESTING }[name]?.() ?? [])
    expect(calls.filter((call) => !mayCall('WaybillOperator', call))).toEqual([])
    expect(calls.some((call) => !mayCall('WaybillReader', call))).toBe(true)
  },
)

test('waybill --stage asks CloudFormation for no stack but the one that both policies name', () => {
  expect(new Set(stage.asked)).toEqual(new Set(['Waybill-dev']))
})

test('every route of the admin API needs no more than the function’s role, and those that change something are no reader’s', async () => {
  const tables = tablesAt(gateway.tables, dynamodb.endpoint)
  const admin = adminOf(tables)
  for await (const { route, address, query, sent } of goodCalls(admin, gateway)) {
    const { method, path, scope } = route
    const before = dynamodb.calls.length
    const { status } = await admin.call(`${address}${query}`, sent)
    // There is no backup of a table of this machine.
    expect([method, path, path === '/tables' ? status === 501 : status < 300]).toEqual([method, path, true])
    const calls = dynamodb.calls.slice(before)
    expect([path, calls.filter((call) => !role.allows(call))]).toEqual([path, []])
    const onlyLooks = scope === undefined || scope.endsWith('.read')
    const url = address.replace(`${method} `, '/admin/v1')
    expect([path, mayCall('WaybillReader', { method, url })]).toEqual([path, onlyLooks])
    if (!onlyLooks && path !== '/routes/test') expect([path, calls.some(isWrite)]).toEqual([path, true])
  }
})
