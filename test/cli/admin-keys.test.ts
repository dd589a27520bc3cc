import { expect, test } from '@jest/globals'
import type { EventShape } from '../../layers/admin/api/shapes/books.ts'
import { adminFunction, OFFICE } from '../functions/support/admin-function.ts'
import { CALLER } from '../support/signed-admin.ts'
import { stageOfFile } from './support/commands.ts'

const { opened, shown, json, list, refused } = await stageOfFile()
const OPTIONS = `--name billing --scopes keys.read,usage.read --allow ${OFFICE}/32 --daily-grant 5`.split(' ')
const without = (option: string) => OPTIONS.toSpliced(OPTIONS.indexOf(option), 2)
const create = () => json<{ id: string; secret: string }>('admin-keys', 'create', ...OPTIONS)
const whoAmI = (secret: string) => adminFunction(opened.gateway.tables).keyed('GET /whoami', { secret })
const statusOf = async (secret: string) => (await whoAmI(secret)).status

test('an admin key that the command line makes opens the admin API, and its secret is shown once', async () => {
  const stdout = await shown('admin-keys', 'create', ...OPTIONS)
  const [secret = ''] = /svc_admin_[0-9A-Za-z]{43}/.exec(stdout) ?? []
  expect(stdout).toContain('This is the only time the secret is shown.')
  expect((await whoAmI(secret)).body).toMatchObject({ scopes: ['keys.read', 'usage.read'] })
  const listed = (await shown('admin-keys', 'list')) + (await shown('admin-keys', 'list', '--json'))
  expect(listed).toContain(secret.slice(-4))
  expect(listed).not.toContain(secret)
  expect(listed).not.toMatch(/[0-9a-f]{64}/)
})

test.each(['--name', '--scopes', '--allow', '--daily-grant'])('an admin key is not made without %s', async (option) => {
  expect(await refused('admin-keys', 'create', ...without(option))).toContain(`required option '${option}`)
})

test.each([
  ['--allow', '', 'at least one CIDR range'],
  ['--allow', '203.0.113.7', 'has no prefix length'],
  ['--scopes', 'keys.read,chat.completions', "not 'chat.completions'"],
  ['--scopes', '', 'must be a list of keys.read'],
  ['--daily-grant', '-1', 'plain decimal'],
])('an admin key is not made with %s %p', async (option, value, said) => {
  expect(await refused('admin-keys', 'create', ...without(option), option, value)).toContain(said)
})

test('a rotation shows a new secret beside which the old one works, and a revoke ends both; events name the caller', async () => {
  const { id, secret } = await create()
  const { secret: next } = await json<{ secret: string }>('admin-keys', 'rotate', id)
  expect([await statusOf(secret), await statusOf(next)]).toEqual([200, 200])
  expect(await shown('admin-keys', 'revoke', id)).toContain('revoked')
  expect([await statusOf(secret), await statusOf(next)]).toEqual([401, 401])
  expect(await refused('admin-keys', 'rotate', id)).toContain('that is final')
  expect(await refused('admin-keys', 'revoke', 'adminkey_none')).toContain("There is no admin key 'adminkey_none'")
  const told = (await list<EventShape>('events', 'list', '--key', id)).map(({ what, by }) => [what, by])
  expect(told).toEqual(['revoked', 'rotated', 'created'].map((verb) => [`admin_key.${verb}`, CALLER]))
  expect(await refused('events', 'list', '--key', 'adminkey_none')).toBe("There is no admin key 'adminkey_none'.\n")
})

test('an admin key asks no model: every endpoint refuses it with 401, without a read', async () => {
  const { secret } = await create()
  const { gateway } = opened
  const before = gateway.calls.length
  expect((await gateway.get(secret, '/v1/models')).status).toBe(401)
  expect((await gateway.post(secret, { model: 'test-model', messages: [] })).status).toBe(401)
  expect(gateway.calls).toHaveLength(before)
})

test('the books, the list of keys and the audit know nothing of admin keys', async () => {
  const { id } = await create()
  expect(await shown('keys', 'list', '--json')).not.toContain(id)
  expect(await shown('audit', '--json')).not.toContain(id)
})
