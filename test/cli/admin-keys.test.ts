import { beforeAll, expect, test } from '@jest/globals'
import type { List } from '../../layers/admin/api/shapes/answers.ts'
import type { EventShape } from '../../layers/admin/api/shapes/books.ts'
import { adminFunction, OFFICE } from '../functions/support/admin-function.ts'
import type { TestGateway } from '../support/gateway.ts'
import { CALLER } from '../support/signed-admin.ts'
import { openBoth, openStage } from '../support/stack.ts'
import type { Stage } from '../support/stage.ts'

let gateway: TestGateway
let stage: Stage

beforeAll(async () => {
  gateway = (await openBoth()).gateway
  stage = await openStage(gateway.tables, gateway.baseUrl)
})

const run = (...args: string[]) => stage.waybill(['admin-keys', ...args, '--stage', 'dev'])
const OPTIONS = [
  '--name',
  'billing',
  '--scopes',
  'keys.read,usage.read',
  '--allow',
  `${OFFICE}/32`,
  '--daily-grant',
  '5',
]
const without = (option: string) => OPTIONS.toSpliced(OPTIONS.indexOf(option), 2)

async function create(): Promise<{ id: string; secret: string }> {
  const { code, stdout } = await run('create', ...OPTIONS, '--json')
  expect(code).toBe(0)
  return JSON.parse(stdout)
}

const statusOf = async (secret: string) => (await adminFunction(gateway.tables).keyed('GET /whoami', { secret })).status

test('an admin key that the command line makes opens the admin API, and its secret is shown once', async () => {
  const { stdout } = await run('create', ...OPTIONS)
  const [secret = ''] = /svc_admin_[0-9A-Za-z]{43}/.exec(stdout) ?? []
  expect(stdout).toContain('This is the only time the secret is shown.')
  const { body } = await adminFunction(gateway.tables).keyed('GET /whoami', { secret })
  expect(body).toMatchObject({ scopes: ['keys.read', 'usage.read'] })
  const listed = (await run('list')).stdout + (await run('list', '--json')).stdout
  expect(listed).toContain(secret.slice(-4))
  expect(listed).not.toContain(secret)
  expect(listed).not.toMatch(/[0-9a-f]{64}/)
})

test.each(['--name', '--scopes', '--allow', '--daily-grant'])('an admin key is not made without %s', async (option) => {
  const { code, stderr } = await run('create', ...without(option))
  expect([code, stderr]).toEqual([1, expect.stringContaining(`required option '${option}`)])
})

test.each([
  ['--allow', '', 'at least one CIDR range'],
  ['--allow', '203.0.113.7', 'has no prefix length'],
  ['--scopes', 'keys.read,chat.completions', "not 'chat.completions'"],
  ['--scopes', '', 'must be a list of keys.read'],
  ['--daily-grant', '-1', 'plain decimal'],
])('an admin key is not made with %s %p', async (option, value, said) => {
  const { code, stderr } = await run('create', ...without(option), option, value)
  expect([code, stderr]).toEqual([1, expect.stringContaining(said)])
})

test('a rotation shows a new secret beside which the old one works, and a revoke ends both; events name the caller', async () => {
  const { id, secret } = await create()
  const { stdout } = await run('rotate', id, '--json')
  const { secret: next } = JSON.parse(stdout)
  expect([await statusOf(secret), await statusOf(next)]).toEqual([200, 200])
  expect((await run('revoke', id)).stdout).toContain('revoked')
  expect([await statusOf(secret), await statusOf(next)]).toEqual([401, 401])
  expect((await run('rotate', id)).stderr).toContain('that is final')
  expect((await run('revoke', 'adminkey_none')).stderr).toContain("There is no admin key 'adminkey_none'")
  const events = await stage.waybill(['events', 'list', '--key', id, '--stage', 'dev', '--json'])
  const told = (JSON.parse(events.stdout) as List<EventShape>).data.map(({ what, by }) => [what, by])
  expect(told).toEqual(['revoked', 'rotated', 'created'].map((verb) => [`admin_key.${verb}`, CALLER]))
  const unknown = await stage.waybill(['events', 'list', '--key', 'adminkey_none', '--stage', 'dev'])
  expect([unknown.code, unknown.stderr]).toEqual([1, "There is no admin key 'adminkey_none'.\n"])
})

test('an admin key asks no model: every endpoint refuses it with 401, without a read', async () => {
  const { secret } = await create()
  const before = gateway.calls.length
  expect((await gateway.get(secret, '/v1/models')).status).toBe(401)
  expect((await gateway.post(secret, { model: 'test-model', messages: [] })).status).toBe(401)
  expect(gateway.calls).toHaveLength(before)
})

test('the books, the list of keys and the audit know nothing of admin keys', async () => {
  const { id } = await create()
  for (const command of [['keys', 'list'], ['audit']]) {
    const { code, stdout } = await stage.waybill([...command, '--stage', 'dev', '--json'])
    expect([code, stdout.includes(id)]).toEqual([0, false])
  }
})
