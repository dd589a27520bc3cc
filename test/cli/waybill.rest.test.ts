import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from '@jest/globals'
import type { CatalogShape } from '../../layers/admin/api/shapes/catalog.ts'
import { SETTING_OPTIONS } from '../../layers/admin/settings/setting-fields.ts'
import { SETTING_WORDS } from '../../layers/admin/settings/setting-words.ts'
import { SETTINGS } from '../../layers/gateway/domain/keys/key-settings.ts'
import type { CatalogData } from '../../layers/gateway/domain/routing/catalog.ts'
import { waybill } from '../support/command-line.ts'
import { emptyFolder, run, startLocal } from '../support/processes.ts'
import { SETTING_SAMPLES } from '../support/setting-samples.ts'
import { commandsOn } from './support/commands.ts'

const folder = emptyFolder()

const gateway = await startLocal(folder)

const { run: local, shown, json, list, refused } = commandsOn((args) => waybill(folder, [...args, '--local']))

const create = (...args: string[]) => json<{ id: string; secret: string }>('keys', 'create', '--name', 'acme', ...args)

function ask(secret: string, path = '/v1/chat/completions'): Promise<Response> {
  const chat = { method: 'POST', body: JSON.stringify({ model: 'echo', messages: [{ role: 'user', content: 'Hi' }] }) }
  return fetch(gateway.local.baseUrl + path, {
    ...(path.endsWith('completions') && chat),
    headers: { Authorization: `Bearer ${secret}`, 'Content-Type': 'application/json' },
  })
}

function fileOf(name: string, catalog: object): string {
  const file = join(folder, name)
  writeFileSync(file, JSON.stringify(catalog))
  return file
}

test('waybill keys create uses the published defaults and shows the secret once', async () => {
  const made = await create()
  expect(made).toMatchObject({
    id: expect.stringMatching(/^key_[0-9A-Z]{26}$/),
    secret: expect.stringMatching(/^svc_live_[0-9A-Za-z]{43}$/),
    name: 'acme',
    status: 'active',
    scopes: ['chat.completions', 'models.read'],
    allowlist: [],
    rpm: 60,
    daily_limit: 10_000,
    max_concurrent: 200,
    granted: '0',
    available: '0',
  })
  const shown = await json('keys', 'show', made.id)
  expect(shown).not.toHaveProperty('secret')
  expect(JSON.stringify(shown)).not.toContain(made.secret.slice(9, 40))
  expect(await list('keys', 'list')).toContainEqual(expect.objectContaining({ id: made.id }))
})

test('waybill keys rotate warns, before it does so, that it ends the secret of an earlier rotation, and takes up to an hour of grace', async () => {
  const made = await create()
  expect((await local('keys', 'rotate', made.id, '--grace', '5')).stderr).toBe('')
  const second = await local('keys', 'rotate', made.id, '--json')
  expect(second.stderr).toMatch(
    new RegExp(
      `^warning: the secret …${made.secret.slice(-4)} of an earlier rotation.*This rotation ends it at once\\.\n$`,
    ),
  )
  expect(JSON.parse(second.stdout).previous.last_four).not.toBe(made.secret.slice(-4))
  expect(await refused('keys', 'rotate', made.id, '--grace', '61')).toContain('60')
})

test('every option of waybill keys takes effect, at once, and an update takes an allowlist away', async () => {
  const typed = SETTINGS.flatMap((name) => [`--${SETTING_OPTIONS[name].option}`, SETTING_SAMPLES[name].typed])
  await shown('plans', 'create', '--name', 'gold')
  const made = await create(...typed, '--credits', '1.5')
  const told = Object.fromEntries(SETTINGS.map((name) => [SETTING_WORDS[name].field, SETTING_SAMPLES[name].told]))
  expect(made).toMatchObject({ ...told, granted: '1.5' })
  const text = await shown('keys', 'show', made.id)
  for (const name of SETTINGS) {
    expect(text).toMatch(
      new RegExp(`^${SETTING_WORDS[name].label.toLowerCase()} +${[SETTING_SAMPLES[name].told].flat().join(', ')}`, 'm'),
    )
  }
  expect((await ask(made.secret)).status).toBe(200)
  expect((await ask(made.secret, '/v1/models')).status).toBe(403)
  const open = ['--rpm', '500', '--scopes', 'chat.completions,models.read', '--allow', '']
  expect(await json('keys', 'update', made.id, ...open)).toMatchObject({ rpm: 500, allowlist: [] })
  expect((await ask(made.secret, '/v1/models')).status).toBe(200)
})

test('waybill keys grant takes a reference, refuses one that was used unless it is --again, and takes credits back', async () => {
  const made = await create('--credits', '1.5')
  expect(await json('keys', 'grant', made.id, '2.000000001')).toMatchObject({
    credits: '2.000000001',
    key: { granted: '3.500000001' },
  })
  const invoiced = ['keys', 'grant', made.id, '1', '--reference', 'INV-1'] as const
  expect(await json(...invoiced)).toMatchObject({ reference: 'INV-1', key: { granted: '4.500000001' } })
  expect(await refused(...invoiced)).toMatch(/granted credits under the reference 'INV-1'.*--again/)
  expect(await json(...invoiced, '--again')).toMatchObject({ key: { granted: '5.500000001' } })
  const corrected = await shown('keys', 'grant', made.id, '-2', '--reference', 'typo')
  expect(corrected).toContain('granted 5.500000001 → 3.500000001')
  expect(await refused('keys', 'grant', made.id, '-400')).toContain('cannot be taken back')
  expect(await shown('keys', 'grants', made.id)).toMatch(/-2 +typo.* 1 +INV-1/s)
  expect(await json('keys', 'list', '--reference', 'inv-1')).toMatchObject({ data: [{ id: made.id }] })
})

test('waybill keys says of a suspension that it was there before, and of a revoke that it is final', async () => {
  const { id } = await create()
  expect(await json('keys', 'rotate', id, '--grace', '0')).toMatchObject({ previous: null })
  await json('keys', 'suspend', id)
  expect(await shown('keys', 'suspend', id)).toContain('is as it was. Nothing was changed.')
  await json('keys', 'revoke', id)
  for (const verb of ['suspend', 'resume']) expect(await refused('keys', verb, id)).toContain('that is final')
  expect(await refused('keys', 'grant', id, '1')).toContain('revoked')
})

test.each([
  ['keys create', /--name/],
  ['keys create --name x --rpm 0', /from 1 to 1920000/],
  ['keys create --name x --allow 10.0.0.1/8', /write 10\.0\.0\.0\/8/],
  ['keys create --name x --credits -1', /plain decimal/],
  ['keys show key_nope', /There is no key 'key_nope'/],
  ['keys update key_nope', /Say what to change/],
  ['keys update key_nope --rpm 5', /There is no key/],
  ['keys grant key_nope 0', /such as -5; not 0/],
  ['usage show req_nope', /There is no request/],
  ['usage list --since yesterday', /30m, 24h or 7d/],
  ['nonsense', /unknown command/],
])('waybill %s is refused with a reason', async (command, reason) => {
  expect(await refused(...command.split(' '))).toMatch(reason)
})

test('waybill keys list without a gateway says how to name one', async () => {
  expect(await waybill(folder, ['keys', 'list'])).toMatchObject({ code: 1, stderr: expect.stringContaining('--local') })
})

describe('the executable', () => {
  const executable = (...args: string[]) => run('cli/waybill.ts', args, folder)

  test('the waybill executable prints the output of its command and exits with its code', async () => {
    for (const [args, code] of [
      [['catalog', 'show', '--local'], 0],
      [['nonsense'], 1],
    ] as const) {
      const ended = await executable(...args).ended
      expect([ended, ended.code]).toEqual([await waybill(folder, args), code])
    }
  })

  test('the waybill executable ends quietly when its reader has left', async () => {
    const { child, ended } = executable('keys', 'list', '--local')
    child.stdout?.destroy()
    expect(await ended).toMatchObject({ code: 0, stderr: '' })
  })
})

test.each(['list', 'summary'])('waybill usage %s --help says how far back it looks', async (command) => {
  expect(await shown('usage', command, '--help')).toContain('(default: 24h)')
})

test('waybill catalog check and push accept a valid file, and refuse an invalid one with the path of its fault', async () => {
  const before = await json<CatalogShape>('catalog', 'show')
  const { models, providers } = before.catalog as CatalogData
  const bad = fileOf('bad.json', { providers, models: [{ ...models[0], price: { input: 'free', output: '1' } }] })
  const alone = (...args: string[]) => waybill(folder, ['catalog', 'check', ...args])
  const fault = /^The catalog '.*bad\.json' is not valid: models\[0\]\.price\.input: /
  expect(await alone(bad)).toEqual({ code: 1, stdout: '', stderr: expect.stringMatching(fault) })
  for (const verb of ['check', 'push']) expect(await refused('catalog', verb, bad)).toMatch(fault)
  expect(await json('catalog', 'show')).toEqual(before)
  const good = fileOf('good.json', { providers, models })
  expect(await json('catalog', 'check', good)).toMatchObject({ valid: true, in_force: { version: before.version } })
  expect(JSON.parse((await alone(good, '--json')).stdout)).toMatchObject({
    object: 'catalog.check',
    valid: true,
    in_force: null,
  })
  expect(await json('catalog', 'push', good)).toMatchObject({ version: before.version + 1 })
})

test('waybill routes test says of a route that fails why, and exits with 1', async () => {
  const { providers, models } = (await json<CatalogShape>('catalog', 'show')).catalog as CatalogData
  const down = { type: 'openai', baseUrl: 'http://127.0.0.1:1/v1' }
  const broken = { ...models[0], id: 'broken', routes: [{ provider: 'down', model: 'x' }] }
  await json('catalog', 'push', fileOf('x.json', { providers: { ...providers, down }, models: [...models, broken] }))
  const bad = await local('routes', 'test', 'broken')
  expect(bad.code).toBe(1)
  expect(bad.stdout).toMatch(/broken +down +x .*connect: The upstream could not be reached/)
  expect(await refused('routes', 'test', 'nope')).toContain("no active model 'nope'")
})
