import { expect, test } from '@jest/globals'
import { MOST_KEYS } from '../../layers/gateway/domain/keys/account.ts'
import { parseCredits } from '../../layers/gateway/domain/money/money.ts'
import { outMark, seenMark } from '../../layers/gateway/store/accounts/account-item.ts'
import { transfers } from '../../layers/gateway/store/accounts/transfers.ts'
import { accountItem, keyItem } from '../../layers/gateway/store/keys/key-item.ts'
import { catalogFor, HELLO } from '../support/gateway.ts'
import { openFor, openUpstream } from '../support/stack.ts'
import { holdAnswers, say } from '../support/upstream.ts'
import { until } from '../support/wait.ts'
import { adminOf, once, type Sent, walk } from './support/admin.ts'

/** Each request costs one credit, whatever it says, and holds as much. */
const FLAT = { price: { input: '0', output: '0', request: '1' } }
const LOOSE = { rpm: 60_000, max_concurrent: 1_000 }
const upstream = await openUpstream(say('Hello'))
const gateway = await openFor(catalogFor(upstream.url, FLAT))
const { tables } = gateway
const admin = adminOf(tables)

async function done(route: string, body: object = {}, more: Sent = {}) {
  const told = await admin.call(route, { body, headers: once(), ...more })
  expect([route, told.status, told.status < 300 ? '' : told.text]).toEqual([route, expect.any(Number), ''])
  return told.body
}
const open = (body: object = {}) => done('POST /accounts', { name: 'acme', credits: '10', ...body })
const keyOf = (account: string, body: object = {}) => done('POST /keys', { name: 'k', account, ...LOOSE, ...body })
const at = async (path: string) => (await admin.call(`GET ${path}`)).body
async function audit(id: string) {
  const { text } = await admin.call('POST /audits', { body: { account: id } })
  return JSON.parse(text.split('\n')[0] ?? '')
}

test('an account has one balance for its keys, and tells where it lies', async () => {
  const { id } = await open({ external_id: 'cus_1', contact_email: 'ann@acme.example', reference: 'inv_1' })
  const [one, two] = [await keyOf(id), await keyOf(id, { name: 'other' })]
  expect(one).toMatchObject({ account_id: id, account_name: 'acme', available: '0', badges: ['no_allowlist'] })
  for (const { secret } of [one, two, two]) expect((await gateway.post(secret, HELLO)).status).toBe(200)
  const told = await at(`/accounts/${id}`)
  expect(told).toMatchObject({ granted: '10', available: '7', held: '0', spent: '3', in_flight: '0', key_count: 2 })
  const sum = [told.in_pool, told.in_keys].reduce((all, text) => all + (parseCredits(text) ?? 0n), 0n)
  expect([sum, told.keys.map(({ spent }: { spent: string }) => spent)]).toEqual([parseCredits('7'), ['2', '1']])
  await done(`POST /keys/${two.id}/revoke`, { confirm: 'other' })
  expect((await at(`/keys?account=${id}`)).data).toHaveLength(2)
  expect((await at(`/requests?account=${id}&limit=2`)).data).toMatchObject([
    { key_id: two.id },
    { account_name: 'acme' },
  ])
  expect(await Array.fromAsync(walk(admin, `GET /requests?account=${id}&limit=2`))).toHaveLength(3)
  expect((await at(`/usage?account=${id}&group_by=key`)).groups).toMatchObject([{ cost: '2' }, { cost: '1' }])
  expect((await at('/usage?group_by=account')).groups).toMatchObject([{ group: id, label: 'acme', cost: '3' }])
  for (const q of ['cus_1', 'ACM', 'inv_1', id]) expect((await at(`/search?q=${q}`)).accounts).toMatchObject([{ id }])
  expect(await audit(id)).toMatchObject({ ok: true, granted: '10', spent: '3', findings: [] })
})

test('an account is listed newest first, changed by its version, granted and corrected wherever its credits lie', async () => {
  const { id, version } = await open({ name: 'beta' })
  const { secret } = await keyOf(id)
  await gateway.post(secret, HELLO)
  const names = await Array.fromAsync(walk<{ name: string }>(admin, 'GET /accounts?limit=1'))
  expect(names.map(({ name }) => name).slice(0, 2)).toEqual(['beta', 'acme'])
  expect((await at('/accounts?name=beta&status=active')).data).toMatchObject([{ id }])
  expect((await at('/accounts?external_id=cus_1')).data).toMatchObject([{ name: 'acme' }])
  const changed = await done(
    `PATCH /accounts/${id}`,
    { notify_below: '2', hides_balance: true },
    { headers: { 'if-match': `"${version}"` } },
  )
  expect(changed).toMatchObject({ notify_below: '2', hides_balance: true })
  const made = await done(`POST /accounts/${id}/grants`, { credits: '-9', reference: 'inv_2' })
  expect(made).toMatchObject({
    credits: '-9',
    account: { granted: '1', available: '0', spent: '1', badges: ['empty'] },
  })
  expect((await at('/overview')).low_accounts).toMatchObject([{ id }])
  expect((await at(`/accounts/${id}/grants`)).data).toMatchObject([{ credits: '-9' }, { credits: '10' }])
  const events = (await at(`/accounts/${id}/events`)).data
  expect(events.map(({ what }: { what: string }) => what)).toEqual([
    'account.granted',
    'account.updated',
    'account.created',
  ])
  expect((await gateway.post(secret, HELLO)).status).toBe(402)
  expect(await audit(id)).toMatchObject({ ok: true })
})

test('the same Idempotency-Key makes one account, and another body with it is refused', async () => {
  const headers = once()
  const both = await Promise.all(
    [1, 2].map(() => admin.call('POST /accounts', { body: { name: 'twin', credits: '1' }, headers })),
  )
  expect(new Set(both.map(({ body }) => body.id)).size).toBe(1)
  expect(await admin.call('POST /accounts', { body: { name: 'other' }, headers })).toMatchObject({ status: 422 })
})

test('a suspension during requests holds for every key when it is answered; a key is not resumed before its account', async () => {
  const { id } = await open({ credits: '100' })
  const keys = await Promise.all([1, 2, 3].map(() => keyOf(id)))
  const own = keys[2] as { id: string }
  await done(`POST /keys/${own.id}/suspend`)
  const asking = Array.from({ length: 30 }, (_, i) => gateway.post(keys[i % 2].secret, HELLO))
  expect(await done(`POST /accounts/${id}/suspend`)).toMatchObject({ status: 'suspended' })
  for (const { secret } of keys) expect((await gateway.post(secret, HELLO)).status).toBe(403)
  await Promise.all(asking)
  expect(await keyOf(id)).toMatchObject({ status: 'suspended', account_suspended: true })
  for (const { id: key } of keys) {
    const { status, body } = await admin.call(`POST /keys/${key}/resume`)
    expect([status, body.error.message]).toEqual([409, expect.stringContaining('waybill accounts resume acme')])
  }
  await done(`POST /accounts/${id}/resume`)
  expect((await gateway.post(keys[0].secret, HELLO)).status).toBe(200)
  expect(await at(`/keys/${own.id}`)).toMatchObject({ status: 'suspended', account_suspended: false })
  expect(await done(`POST /keys/${own.id}/resume`)).toMatchObject({ status: 'active' })
  const { available } = await at(`/accounts/${id}`)
  expect(await done(`POST /accounts/${id}/close`, { confirm: 'acme' })).toMatchObject({
    status: 'closed',
    available,
    key_count: 0,
  })
  expect((await gateway.post(keys[0].secret, HELLO)).status).toBe(401)
})

test('an adopted key brings its balance, its charges and its open hold, and its secret works on', async () => {
  const { id } = await open({ credits: '1' })
  const key = await done('POST /keys', { name: 'alone', credits: '5', notify_below: '1', ...LOOSE })
  const answer = holdAnswers(upstream)
  const asked = gateway.post(key.secret, HELLO)
  await until(async () => (await at(`/keys/${key.id}`)).held === '1')
  expect(await done(`POST /keys/${key.id}/adopt`, { account: id })).toMatchObject({
    account_id: id,
    notify_below: null,
  })
  expect(await at(`/accounts/${id}`)).toMatchObject({ granted: '6', available: '5', held: '1' })
  answer()
  expect((await asked).status).toBe(200)
  expect(await at(`/accounts/${id}`)).toMatchObject({ granted: '6', available: '5', held: '0', spent: '1' })
  // Asked again after a lost answer, it is as it shall be.
  await done(`POST /keys/${key.id}/adopt`, { account: id })
  expect(await audit(id)).toMatchObject({ ok: true })
  const [ofKey] = (await admin.call('POST /audits', { body: { key_id: key.id } })).text.split('\n')
  expect(JSON.parse(ofKey ?? '')).toMatchObject({ ok: true, granted: '1', spent: '1' })
})

test('an audit names what is in flight, which is not wrong, and finds a mark or a pool that was changed', async () => {
  const { id } = await open({ name: 'cut off' })
  const { id: keyId } = await keyOf(id)
  const { readAccount, draw } = transfers(tables)
  const account = await readAccount(id)
  if (!account) throw new Error('no account')
  // The second write of a transfer is cut off.
  await draw(account, keyId, parseCredits('4') ?? 0n, Date.now())
  const cut = await audit(id)
  expect(cut).toMatchObject({ ok: true, balances: true, in_pool: '6', in_flight: '4', in_keys: '0', available: '10' })
  expect(cut.findings).toMatchObject([
    { about: 'the account', note: true, text: expect.stringContaining('4 is under way') },
  ])
  const damage = (UpdateExpression: string) =>
    tables.database.update({
      TableName: tables.keys,
      Key: accountItem(id),
      UpdateExpression,
      ExpressionAttributeNames: { '#out': outMark(keyId) },
      ExpressionAttributeValues: { ':one': 1 },
    })
  await damage('SET #out = #out - :one')
  expect(await audit(id)).toMatchObject({ ok: false, balances: false })
  await damage('SET #out = #out + :one, available = available + :one, granted = granted + :one')
  const granted = await audit(id)
  expect(granted).toMatchObject({ ok: false, balances: true })
  expect(granted.findings.at(-1).text).toMatch(/granted is not the sum of the grants/)
  // A page ends after three seconds, and a busy machine may need more.
  const nowMs = Date.now()
  const patient = adminOf(tables, { clock: () => nowMs })
  const summary = (await patient.call('POST /audits')).text
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line))
  expect(summary.at(-1)).toMatchObject({ object: 'audit.summary', wrong: 1, has_more: false })
  expect(summary.filter(({ object }) => object === 'account.audit')).toHaveLength(summary.at(-1).accounts)
})

test('a purse that has taken more than it was given, or was counted back twice, is found', async () => {
  const { id } = await open({ name: 'marks' })
  const { id: keyId, secret } = await keyOf(id)
  await gateway.post(secret, HELLO)
  const set = (key: object, UpdateExpression: string, name: string) =>
    tables.database.update({
      TableName: tables.keys,
      Key: key as Record<string, string>,
      UpdateExpression,
      ExpressionAttributeNames: { '#mark': name },
      ExpressionAttributeValues: { ':one': 1 },
    })
  await set(accountItem(id), 'SET #mark = #mark + :one, available = available + :one', seenMark(keyId))
  expect((await audit(id)).findings).toMatchObject([
    { text: expect.stringMatching(/^more was counted back from the key/) },
  ])
  await set(accountItem(id), 'SET #mark = #mark - :one, available = available - :one', seenMark(keyId))
  await set(keyItem(keyId), 'SET #mark = #mark + :one', 'drawn')
  expect((await audit(id)).findings[0]).toMatchObject({
    text: expect.stringMatching(/has taken more than it was given/),
  })
})

const gone = await open({ name: 'gone', external_id: 'cus_gone' })
await done(`POST /accounts/${gone.id}/close`, { confirm: 'gone' })
const full = await open({ name: 'full', external_id: 'cus_full' })
for (let i = 0; i < MOST_KEYS; i++) await keyOf(full.id)
const resting = await open({ name: 'resting' })
await done(`POST /accounts/${resting.id}/suspend`)
const alone = await done('POST /keys', { name: 'alone', credits: '1', external_id: 'cus_key' })
const { data: ofFull } = await at(`/keys?account=${full.id}&limit=1`)
const member = ofFull[0].id
const NOBODY = `acct_${'0'.repeat(26)}`

test.each<[string, object, number, RegExp]>([
  ['GET /accounts/acct_nobody', {}, 404, /There is no account 'acct_nobody'/],
  ['POST /accounts', { name: 'a\u202eb' }, 400, /'name' .*control characters/],
  ['POST /accounts', { name: 'x', contact_email: 'ann' }, 400, /'contact_email' must be an address/],
  ['POST /accounts', { name: 'x', reference: 'inv' }, 400, /'reference' is that of a grant/],
  ['POST /accounts', { name: 'x', external_id: 'cus_key' }, 409, /is that of the key '[^']+'\./],
  ['POST /accounts', { name: 'x', external_id: 'cus_full' }, 409, /is that of the account '[^']+'\./],
  ['POST /keys', { name: 'x', external_id: 'cus_full' }, 409, /is that of the account '[^']+'\./],
  [`POST /accounts/${gone.id}/grants`, { credits: '1' }, 409, /The account 'gone' is closed, and that is final/],
  [`POST /accounts/${gone.id}/resume`, {}, 409, /is closed, and that is final/],
  [`POST /accounts/${full.id}/close`, { confirm: 'other' }, 400, /'confirm' must be the name of the account/],
  [
    `POST /accounts/${full.id}/grants`,
    { credits: '-11' },
    409,
    /The account 'full' has 10 credits available, and 11 cannot be taken back/,
  ],
  ['POST /keys', { name: 'x', account: NOBODY }, 404, /There is no account/],
  ['POST /keys', { name: 'x', account: gone.id }, 409, /The account 'gone' is closed/],
  [
    'POST /keys',
    { name: 'x', account: full.id },
    409,
    /The account 'full' has room for 0 more purses, and 1 would be needed. It can have 100/,
  ],
  ['POST /keys', { name: 'x', account: full.id, credits: '1' }, 400, /waybill accounts grant NAME CREDITS/],
  ['POST /keys', { name: 'x', account: full.id, notify_below: '1' }, 400, /'notify_below' is that of the account/],
  [`POST /keys/${member}/grants`, { credits: '2' }, 400, /waybill accounts grant full 2\./],
  [`PATCH /keys/${member}`, { notify_below: '2' }, 400, /waybill accounts update full --notify-below 2\./],
  [`POST /keys/${member}/adopt`, { account: resting.id }, 409, /is one of the account 'full', and a key never/],
  [`POST /keys/${alone.id}/adopt`, { account: resting.id }, 409, /The account 'resting' is suspended. Resume it first/],
  [`POST /keys/${alone.id}/adopt`, { account: gone.id }, 409, /is closed/],
  [`POST /keys/${alone.id}/adopt`, { account: full.id }, 409, /has room for 0 more purses/],
  [`POST /keys/${alone.id}/adopt`, { account: NOBODY }, 404, /There is no account/],
  [`GET /requests?account=${full.id}&key_id=${alone.id}`, {}, 400, /'account' and key_id cannot be asked for together/],
])('%s with %j is refused, and changes nothing', async (route, body, status, message) => {
  const state = async () => [await at('/accounts'), await gateway.readKey(alone.id), await gateway.readKey(member)]
  const before = await state()
  const told = await admin.call(route, { body, headers: { ...once(), 'if-match': '"1"' } })
  expect([told.status, told.body.error.message]).toEqual([status, expect.stringMatching(message)])
  expect(await state()).toEqual(before)
})

test('an account that is full has room again as soon as keys of it are revoked', async () => {
  const { data } = await at(`/keys?account=${full.id}&limit=2`)
  for (const { id, name } of data) await done(`POST /keys/${id}/revoke`, { confirm: name })
  await done('POST /keys', { name: 'x', account: full.id })
  await done(`POST /keys/${alone.id}/adopt`, { account: full.id })
})

test('credits for an account need the scope to grant', async () => {
  const sent = { body: { name: 'x', credits: '1' }, headers: once(), scopes: ['keys.write'] } as const
  expect(await admin.call('POST /accounts', sent)).toMatchObject({ status: 403 })
})
