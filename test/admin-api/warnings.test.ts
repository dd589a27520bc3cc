import { expect, test } from '@jest/globals'
import { catalogFor } from '../support/gateway.ts'
import { intercept } from '../support/intercept.ts'
import { openBoth } from '../support/stack.ts'
import { adminOf, once, walk } from './support/admin.ts'

const { gateway } = await openBoth()
const admin = adminOf(gateway.tables, { tellsNotices: false })
await admin.call('PUT /catalog', { body: catalogFor('https://up.example/v1'), headers: { 'if-match': '"1"' } })
const STRICT = { prefer: 'handling=strict' }

let made = 0
async function make(kind: 'keys' | 'accounts', body: object = {}) {
  const answer = await admin.call(`POST /${kind}`, { body: { name: `${kind}-${made++}`, ...body }, headers: once() })
  expect([answer.status, answer.body.error]).toEqual([201, undefined])
  return answer.body
}
const key = await make('keys', { name: 'taken' })
const account = await make('accounts', { name: 'customer' })
await admin.call(`POST /keys/${key.id}/grants`, { body: { credits: '5' }, headers: once() })
await admin.call(`POST /accounts/${account.id}/grants`, { body: { credits: '5' }, headers: once() })
const adminKey = { scopes: ['keys.read'], allowlist: ['192.0.2.0/24'], daily_grant: '1', last_four: 'abcd' }
const adminKeyOf = (digit: string) => ({ ...adminKey, name: 'program', secret_sha256: digit.repeat(64) })
await admin.call('POST /admin-keys', { body: adminKeyOf('1'), headers: once() })

const CASES: [route: string, body: object, code: string, param: string, message: string][] = [
  ['POST /keys', { name: 'a', models: ['test-modell'] }, 'unknown_model', 'models', "Did you mean 'test-model'?"],
  [
    'POST /keys',
    { name: 'b', models: ['claude-*'] },
    'unknown_model',
    'models',
    "No model of the catalog matches 'cla",
  ],
  ['POST /keys', { name: 'taken' }, 'name_taken', 'name', `The key ${key.id} is called 'taken', too`],
  ['POST /keys', { name: 'c', notify_below: '5' }, 'no_receiver', 'notify_below', 'Nobody receives notices here'],
  ['POST /accounts', { name: 'customer' }, 'name_taken', 'name', `The account ${account.id} is called 'customer', too`],
  ['POST /accounts', { name: 'd', notify_below: '5' }, 'no_receiver', 'notify_below', 'Nobody receives notices here'],
  ['POST /admin-keys', adminKeyOf('2'), 'name_taken', 'name', "is called 'program', too"],
  ['POST /plans', { name: 'gold', models: ['nope'] }, 'unknown_model', 'models', "The catalog has no model 'nope'."],
  ['PATCH KEY', { models: ['nope'] }, 'unknown_model', 'models', "The catalog has no model 'nope'."],
  ['PATCH KEY', { name: 'taken' }, 'name_taken', 'name', "is called 'taken', too"],
  ['PATCH ACCOUNT', { name: 'customer' }, 'name_taken', 'name', "is called 'customer', too"],
  [`POST /keys/${key.id}/grants`, { credits: '5' }, 'repeated_grant', 'credits', 'the same amount again, without a'],
  [`POST /accounts/${account.id}/grants`, { credits: '5' }, 'repeated_grant', 'credits', 'the same amount again'],
]

const events = () => Array.fromAsync(walk(admin, 'GET /events?limit=100'))

test.each(CASES)(
  '%s with %j is told with its answer, and refused first if that is wanted',
  async (...[route, body, code, param, message]) => {
    const [name, path = ''] = route.split(' ')
    const kind = path === 'KEY' ? 'keys' : 'accounts'
    const address = path.startsWith('/') ? route : `${name} /${kind}/${(await make(kind)).id}`
    const { version } = (await admin.call('GET /catalog')).body
    const seen = { 'if-match': `"${path === '/plans' ? version : 1}"` }
    const before = await events()
    const asked = once()
    const refused = await admin.call(address, { body, headers: { ...asked, ...seen, ...STRICT } })
    expect([refused.status, refused.body.error]).toEqual([
      409,
      { code: 'needs_confirmation', type: 'conflict_error', param, message: expect.stringContaining(message) },
    ])
    expect(await events()).toEqual(before)
    const done = await admin.call(address, { body, headers: { ...asked, ...seen } })
    expect([done.status < 300, done.body.warnings]).toEqual([
      true,
      [{ code, param, message: expect.stringContaining(message) }],
    ])
    expect(await events()).toHaveLength(before.length + 1)
  },
)

test('a question about several fields names none of them: each would be asked of the first', async () => {
  const ask = async (body: object) => {
    const { error } = (await admin.call('POST /keys', { body, headers: { ...once(), ...STRICT } })).body
    return [error.param, error.message.split('\n').length]
  }
  expect(await ask({ name: 'two', models: ['nope'], notify_below: '5' })).toEqual([null, 3])
  expect(await ask({ name: 'two', models: ['nope', 'neither'] })).toEqual(['models', 3])
})

test('a change that is no mistake has no warnings', async () => {
  const told = adminOf(gateway.tables, { tellsNotices: true })
  const body = { name: 'clean', models: ['test-model', 'test-*'], notify_below: '5', credits: '1' }
  const { body: clean } = await told.call('POST /keys', { body, headers: { ...once(), ...STRICT } })
  expect([clean.name, clean.warnings]).toEqual(['clean', undefined])
  const grant = (more: object) => ({ body: { credits: '1', ...more }, headers: { ...once(), ...STRICT } })
  expect((await told.call(`POST /keys/${clean.id}/grants`, grant({ reference: 'inv_1' }))).status).toBe(201)
  expect((await told.call(`POST /keys/${clean.id}/grants`, grant({ credits: '2' }))).status).toBe(201)
})

test('the amount of a minute ago, and the name of a revoked key, are told no more', async () => {
  const old = await make('keys', { name: 'gone', credits: '3' })
  const later = adminOf(gateway.tables, { clock: () => Date.now() + 61_000 })
  const grant = { body: { credits: '3' }, headers: { ...once(), ...STRICT } }
  expect((await later.call(`POST /keys/${old.id}/grants`, grant)).status).toBe(201)
  await admin.call(`POST /keys/${old.id}/revoke`, { body: { confirm: 'gone' } })
  const again = { body: { name: 'gone' }, headers: { ...once(), ...STRICT } }
  expect((await admin.call('POST /keys', again)).status).toBe(201)
})

test('a create and a grant that are sent again are not taken for a second one', async () => {
  for (const [route, body] of [
    ['POST /keys', { name: 'sent-twice' }],
    ['POST /accounts', { name: 'sent-twice' }],
    [`POST /keys/${key.id}/grants`, { credits: '7' }],
  ] as const) {
    const sent = { body, headers: { ...once(), ...STRICT } }
    expect((await admin.call(route, sent)).body.replayed).toBe(false)
    expect((await admin.call(route, sent)).body).toMatchObject({ replayed: true })
  }
})

test('an act or a change that finds everything as it is to be says so, and leaves no event', async () => {
  const ofAccount = await make('keys', { account: account.id })
  const { version } = (await admin.call('GET /catalog')).body
  await admin.call('POST /plans', { body: { name: 'silver', factor: '2' }, headers: { 'if-match': `"${version}"` } })
  const acts: [route: string, body?: object][] = [
    [`POST /keys/${key.id}/suspend`],
    [`POST /keys/${key.id}/resume`],
    [`POST /keys/${key.id}/end-grace`],
    [`PATCH /keys/${key.id}`, { rpm: 7, models: [], note: null }],
    [`POST /accounts/${account.id}/suspend`],
    [`POST /accounts/${account.id}/resume`],
    [`PATCH /accounts/${account.id}`, { note: 'late' }],
    ['PATCH /plans/silver', { factor: '2', rpm: null }],
    [`POST /keys/${ofAccount.id}/adopt`, { account: account.id }],
  ]
  for (const [route, body = {}] of acts) {
    const [, path = ''] = route.split(' ')
    const send = async () => {
      const seen = (await admin.call(`GET ${path.replace(/\/(suspend|resume|end-grace|adopt)$/, '')}`)).body.version
      return admin.call(route, { body, headers: { 'if-match': `"${seen}"` } })
    }
    await send()
    const before = await events()
    const again = await send()
    expect([route, again.status, again.body.warnings]).toEqual([
      route,
      200,
      [{ code: 'unchanged', param: null, message: expect.stringContaining('is as it was: nothing was changed.') }],
    ])
    expect([route, await events()]).toEqual([route, before])
  }
})

test('a key that is suspended with its account, and then by itself, tells both', async () => {
  const both = await make('keys', { account: account.id })
  const changes = async () => (await admin.call(`GET /keys/${both.id}/events`)).body.data
  await admin.call(`POST /accounts/${account.id}/suspend`)
  expect((await changes())[0].after).toEqual({ status: 'suspended', with_account: true })
  await admin.call(`POST /keys/${both.id}/suspend`)
  expect((await changes())[0]).toMatchObject({ what: 'key.suspended', before: { with_account: true }, after: null })
  await admin.call(`POST /accounts/${account.id}/resume`)
  expect(await changes()).toHaveLength(3)
  for (const { before, after } of await events()) expect(before ?? after).not.toBeNull()
})

test('a program that is not asked has a name looked for among the newest hundred keys, and a person among more', async () => {
  await make('keys', { name: 'old' })
  await Promise.all(Array.from({ length: 100 }, (_, i) => gateway.issue({ name: `newer ${i}` })))
  const create = (headers: object) =>
    admin.call('POST /keys', { body: { name: 'old' }, headers: { ...once(), ...headers } })
  const asked = await create(STRICT)
  expect([asked.status, asked.body.error.code]).toEqual([409, 'needs_confirmation'])
  const operations: string[] = []
  const restore = intercept(gateway.tables, (send, operation) => {
    operations.push(operation)
    return send()
  })
  const told = await create({})
  restore()
  expect([told.status, told.body.warnings]).toEqual([201, undefined])
  expect(operations.filter((operation) => operation === 'BatchGetItem').length).toBeLessThanOrEqual(2)
})
