import { mkdirSync, writeFileSync } from 'node:fs'
import { userInfo } from 'node:os'
import { join } from 'node:path'
import { beforeAll, describe, expect, test } from '@jest/globals'
import { ask } from '../../cli/admin-client/ask.ts'
import { adminClient } from '../../cli/admin-client/http-client.ts'
import { connect } from '../../cli/connect/connect.ts'
import { localFile, localFolder } from '../../cli/connect/local-gateway.ts'
import type { List, WhoAmI } from '../../layers/admin/api/shapes/answers.ts'
import type { AuditShape, EventShape } from '../../layers/admin/api/shapes/books.ts'
import type { CatalogShape } from '../../layers/admin/api/shapes/catalog.ts'
import type { KeyWithSecret } from '../../layers/admin/api/shapes/keys.ts'
import type { RequestLine } from '../../layers/admin/api/shapes/requests.ts'
import { waybill } from '../support/command-line.ts'
import { catalogFor, HELLO } from '../support/gateway.ts'
import { type Ended, emptyFolder } from '../support/processes.ts'
import { CALLER, makeAdminKey } from '../support/signed-admin.ts'
import { openLocalAdmin } from '../support/stack.ts'
import { commandsOn, stageOfFile } from './support/commands.ts'

const { opened, run } = await stageOfFile()
const folder = emptyFolder()

beforeAll(async () => {
  const file = await openLocalAdmin(opened.gateway)
  mkdirSync(localFolder(folder))
  writeFileSync(localFile(localFolder(folder)), JSON.stringify(file))
})

/** A way into the admin API: it runs the command line, and its changes are told to be by this caller. */
type Way = { readonly run: (args: readonly string[]) => Promise<Ended>; readonly by: string | RegExp }

const WAYS: Readonly<Record<string, () => Promise<Way>>> = {
  'a signature of AWS': async () => ({ run: (args) => run(...args), by: CALLER }),
  'an admin key': async () => {
    const env = {
      WAYBILL_ADMIN_URL: opened.stage.admin.url,
      WAYBILL_ADMIN_KEY: await makeAdminKey(opened.gateway.tables),
    }
    return { run: (args) => waybill(emptyFolder(), args, env), by: /^adminkey_/ }
  },
  'a local token': async () => ({
    run: (args) => waybill(folder, [...args, '--local']),
    by: userInfo().username,
  }),
}

describe.each(Object.entries(WAYS))('an operator with %s', (_, open) => {
  let way: Way
  beforeAll(async () => {
    way = await open()
  })

  const { json } = commandsOn((args) => way.run(args))
  const statusOf = async (secret: string | null) => (await opened.gateway.get(secret ?? '', '/v1/models')).status

  test('does with keys all that commands do, and every change is told to be theirs', async () => {
    const made = await json<KeyWithSecret>('keys', 'create', '--name', 'acme', '--credits', '2')
    const { id } = made
    expect(await statusOf(made.secret)).toBe(200)
    expect(await json('keys', 'show', id)).toMatchObject({ object: 'key', id, name: 'acme', granted: '2' })
    expect((await json<List<{ id: string }>>('keys', 'list')).data.map((key) => key.id)).toContain(id)
    expect(await json('keys', 'update', id, '--rpm', '7')).toMatchObject({ id, rpm: 7 })
    expect(await json('keys', 'grant', id, '3')).toMatchObject({ object: 'grant', key: { granted: '5' } })
    const { secret } = await json<KeyWithSecret>('keys', 'rotate', id)
    expect(await json('keys', 'end-grace', id)).toMatchObject({ id, previous: null })
    expect([await statusOf(made.secret), await statusOf(secret)]).toEqual([401, 200])
    await json('keys', 'suspend', id)
    await json('keys', 'resume', id)
    expect(await json('keys', 'revoke', id)).toMatchObject({ id, status: 'revoked' })
    expect(await statusOf(secret)).toBe(401)
    const { data } = await json<List<EventShape>>('events', 'list', '--key', id)
    expect(data.map(({ what }) => what.replace('key.', '')).join()).toBe(
      'revoked,resumed,suspended,grace_ended,rotated,granted,updated,created',
    )
    for (const { by } of data) expect(by).toEqual(typeof way.by === 'string' ? way.by : expect.stringMatching(way.by))
    const first = await json<List<EventShape>>('events', 'list', '--key', id, '--limit', '2')
    const rest = await json<List<EventShape>>('events', 'list', '--key', id, '--after', first.last_id ?? '')
    expect([...first.data, ...rest.data]).toEqual(data)
  })

  test('sees the usage of a key, exports it, and proves the books', async () => {
    const { gateway } = opened
    const { key, secret } = await gateway.issue()
    for (let i = 0; i < 3; i++) await (await gateway.post(secret, HELLO)).text()
    const { data } = await json<List<RequestLine>>('usage', 'list', '--key', key.id)
    expect(data.map(({ key_id }) => key_id)).toEqual([key.id, key.id, key.id])
    const requestId = data[0]?.request_id ?? ''
    expect(await json('usage', 'show', requestId)).toMatchObject({ request_id: requestId, state: 'settled' })
    expect(await json('usage', 'summary', '--by', 'day', '--key', key.id)).toMatchObject({ total: { requests: 3 } })
    const exported = await way.run(['usage', 'export', '--from', '2026-01-01', '--key', key.id])
    expect([exported.code, exported.stdout.match(/\n/g)?.length]).toEqual([0, 3])
    const audit = { object: 'audit', key_id: key.id, rows: 3, balances: true, explained: true, ok: true }
    expect(await json('audit', '--key', key.id)).toMatchObject({ object: 'list', data: [audit] })
    const all = await json<List<AuditShape>>('audit')
    expect(all.data.map(({ key_id }) => key_id)).toContain(key.id)
    expect((await way.run(['audit', '--key', key.id])).stdout).toContain('\n1 key, all clean.\n')
  })

  test('changes the catalog and goes back, and tests its routes', async () => {
    const before = await json<CatalogShape>('catalog', 'show')
    const file = join(emptyFolder(), 'catalog.json')
    writeFileSync(file, JSON.stringify(catalogFor(opened.upstream.url, { price: { input: '1', output: '9' } })))
    const changes = expect.arrayContaining([expect.stringContaining('output 2 → 9')])
    expect(await json('catalog', 'check', file)).toMatchObject({ valid: true, changes })
    const pushed = await json<CatalogShape>('catalog', 'push', file)
    expect(pushed).toMatchObject({ object: 'catalog', version: before.version + 1, changes })
    expect(await json('catalog', 'diff')).toMatchObject({ changes, compared_to: before.version })
    const { data: versions } = await json<List<{ version: number }>>('catalog', 'versions')
    expect(versions[0]).toMatchObject({ version: pushed.version, in_force: true })
    expect(await json('routes', 'list')).toMatchObject({ data: [{ object: 'route', order: 1 }] })
    expect(await json('routes', 'test')).toMatchObject({ data: [{ object: 'route.test', ok: true }] })
    const back = await json<CatalogShape>('catalog', 'rollback', String(before.version))
    expect(back).toMatchObject({ version: before.version + 2, catalog: before.catalog })
  })

  test('makes and ends admin keys, unless an admin key is all they have', async () => {
    const options = ['--name', 'other', '--scopes', 'keys.read', '--allow', '127.0.0.1/32', '--daily-grant', '1']
    const made = await way.run(['admin-keys', 'create', ...options, '--json'])
    if (typeof way.by !== 'string') {
      expect([made.code, made.stderr]).toEqual([1, expect.stringContaining('needs the scope admin_keys.write')])
      return
    }
    const { id, secret } = JSON.parse(made.stdout)
    const client = ask(adminClient(await connect({ adminUrl: opened.stage.admin.url, adminKey: secret })))
    expect(await client.get<WhoAmI>('/whoami')).toMatchObject({ by: id, scopes: ['keys.read'] })
    expect(await json('admin-keys', 'revoke', id)).toMatchObject({ object: 'admin_key', status: 'revoked' })
    await expect(client.get('/whoami')).rejects.toThrow('an admin key that is valid')
  })
})

test('what an operator has need be nothing but an admin key: without one, or with a wrong address, they are told', async () => {
  const run = (env: Record<string, string>) => waybill(emptyFolder(), ['keys', 'list'], env)
  expect((await run({ WAYBILL_ADMIN_URL: opened.stage.admin.url })).stderr).toContain('WAYBILL_ADMIN_KEY')
  const wrong = await run({ WAYBILL_ADMIN_URL: opened.stage.admin.url, WAYBILL_ADMIN_KEY: 'svc_admin_x' })
  expect([wrong.code, wrong.stderr]).toEqual([1, expect.stringContaining('an admin key that is valid')])
  const used = await waybill(emptyFolder(), ['use'], { WAYBILL_ADMIN_URL: opened.stage.admin.url })
  expect(used.stdout).toContain(`the admin API at ${opened.stage.admin.url}, by an admin key`)
})
