import { readFileSync } from 'node:fs'
import { beforeEach, describe, expect, test } from '@jest/globals'
import { rateText } from '../../layers/admin/settings/lane-rates.ts'
import { shownText } from '../../layers/admin/settings/setting-texts.ts'
import { SETTING_WORDS } from '../../layers/admin/settings/setting-words.ts'
import { MOST_KEYS } from '../../layers/gateway/domain/keys/account.ts'
import { laneAddress } from '../../layers/gateway/domain/keys/lane.ts'
import { outMark, seenMark } from '../../layers/gateway/store/accounts/account-item.ts'
import { transfers } from '../../layers/gateway/store/accounts/transfers.ts'
import { accountItem, keyItem } from '../../layers/gateway/store/keys/key-item.ts'
import { readBooks } from '../../layers/gateway/store/keys/read-key.ts'
import { rowKey } from '../../layers/gateway/store/rows/usage-item.ts'
import { credits, openAccounts } from '../functions/support/accounts.ts'
import { holdAnswers } from '../support/upstream.ts'
import { until } from '../support/wait.ts'
import { adminOf, once, type Sent } from './support/admin.ts'

const { time, upstream, tables, statusOf, sweep } = await openAccounts()
const admin = adminOf(tables, { clock: () => time.nowMs })
const [readLanes, verbs] = [readBooks(tables), transfers(tables)]

beforeEach(() => {
  time.nowMs += 1_000
})

async function done(route: string, body: object = {}, more: Sent = {}) {
  const told = await admin.call(route, { body, headers: once(), ...more })
  expect([route, told.status, told.status < 300 ? '' : told.text]).toEqual([route, expect.any(Number), ''])
  return told.body
}
const at = async (path: string) => (await admin.call(`GET ${path}`)).body
/** Each lane takes two requests at once, so eight that are open at once are in all of them. */
const WIDE = { name: 'wide', credits: '100', lanes: 4, rpm: 60_000, max_concurrent: 8 }
const make = (body: object = {}) => done('POST /keys', { ...WIDE, ...body })
async function change(id: string, body: object) {
  time.nowMs += 1
  const { version } = await at(`/keys/${id}`)
  return admin.call(`PATCH /keys/${id}`, { body, headers: { 'if-match': `"${version}"` } })
}
async function audit(asked: object) {
  const { text } = await admin.call('POST /audits', { body: asked })
  return JSON.parse(text.split('\n')[0] ?? '')
}

/** Eight requests that are open at once. */
async function askEight(id: string, secret: string) {
  const answer = holdAnswers(upstream)
  const asked = Promise.all(Array.from({ length: 8 }, () => statusOf(secret)))
  await until(async () => (await at(`/keys/${id}`)).requests_open === 8)
  return async () => {
    answer()
    expect(await asked).toEqual(Array(8).fill(200))
  }
}
async function spendEight(id: string, secret: string) {
  await (await askEight(id, secret))()
  // An audit reads a key that was just used again and again.
  time.nowMs += 61_000
}

describe('a key with 4 lanes', () => {
  test('is made, shown, listed and searched as one, with the sums of all lanes while requests are open and after them', async () => {
    const made = await make({ external_id: 'cus_wide' })
    const { id, secret } = made
    expect(made).toMatchObject({ lanes: 4, granted: '100', available: '100', account_id: null, account_name: null })
    const end = await askEight(id, secret)
    expect(new Set((await readLanes(id)).map(({ holds }) => Object.keys(holds).length))).toEqual(new Set([2]))
    const open = { granted: '100', available: '92', held: '8', spent: '0', calls_today: 8, requests_open: 8 }
    const shown = await at(`/keys/${id}`)
    expect(shown).toMatchObject({
      ...open,
      minute: { limit: 60_000, remaining: 60_000 - 8 },
      day: { remaining: 9_992 },
    })
    expect(shown.holds).toHaveLength(8)
    expect((await at('/keys')).data).toMatchObject([{ id, ...open }])
    expect((await at('/keys?external_id=cus_wide')).data).toMatchObject([{ id, ...open }])
    expect((await at('/search?q=cus_wide')).keys).toMatchObject([{ id, ...open }])
    for (const { request_id } of shown.holds) {
      expect((await at(`/search?q=${request_id}`)).request_id).toBe(request_id)
      expect(await at(`/requests/${request_id}`)).toMatchObject({ state: 'open', key_id: id, account_id: null })
    }
    await end()
    expect(await at(`/keys/${id}`)).toMatchObject({ available: '92', held: '0', spent: '8', holds: [] })
    expect((await at(`/usage?key_id=${id}`)).total).toMatchObject({ requests: 8, cost: '8' })
    expect((await at('/usage?group_by=account')).groups).toMatchObject([{ group: id, label: 'wide', cost: '8' }])
    const { data: rows } = await at(`/requests?key_id=${id}`)
    expect(rows).toHaveLength(8)
    expect(rows[0]).toMatchObject({ key_name: 'wide', account_id: null, account_name: null })
    const { explanation } = await at(`/requests/${rows[0].request_id}`)
    expect(explanation.map(({ name }: { name: string }) => name)).not.toContain('account')
    expect(await audit({ key_id: id })).toMatchObject({ ok: true, granted: '100', spent: '8', rows: 8 })
  })

  test('is granted and corrected wherever its credits lie, by no more than there is, once under one Idempotency-Key', async () => {
    const { id, secret } = await make({ credits: '10' })
    await spendEight(id, secret)
    const headers = once()
    const grant = () => done(`POST /keys/${id}/grants`, { credits: '5', reference: 'inv_1' }, { headers })
    expect(await grant()).toMatchObject({ replayed: false, key: { id, granted: '15', available: '7', spent: '8' } })
    expect(await grant()).toMatchObject({ replayed: true, key: { granted: '15', available: '7' } })
    const correct = (amount: string) =>
      admin.call(`POST /keys/${id}/grants`, { body: { credits: amount }, headers: once() })
    expect(await correct('-7.5')).toMatchObject({
      status: 409,
      body: { error: { message: expect.stringMatching(/has 7 credits available, and 7\.5 cannot be taken back/) } },
    })
    time.nowMs += 1
    expect(await correct('-7')).toMatchObject({
      body: { key: { granted: '8', available: '0', badges: ['empty', 'no_allowlist'] } },
    })
    expect(await statusOf(secret)).toBe(402)
    expect((await at(`/keys/${id}/grants`)).data.map(({ credits }: { credits: string }) => credits)).toEqual([
      '-7',
      '5',
      '10',
    ])
    expect((await at('/overview')).low).toMatchObject([{ id, available: '0' }])
    expect((await at('/keys?reference=inv_1')).data).toMatchObject([{ id, spent: '8' }])
    expect(await audit({ key_id: id })).toMatchObject({ ok: true, balances: true, granted: '8', available: '0' })
  })

  test('is suspended, resumed, rotated and revoked on every lane, with the sums in each answer', async () => {
    const { id, secret } = await make()
    await spendEight(id, secret)
    const sums = { id, granted: '100', available: '92', spent: '8' }
    expect(await done(`POST /keys/${id}/suspend`)).toMatchObject({
      ...sums,
      status: 'suspended',
      account_suspended: false,
    })
    expect(await statusOf(secret)).toBe(403)
    expect(await done(`POST /keys/${id}/resume`)).toMatchObject({ ...sums, status: 'active' })
    const rotated = await done(`POST /keys/${id}/rotate`)
    expect(rotated).toMatchObject({ ...sums, replayed: false, previous: { last_four: secret.slice(-4) } })
    expect([await statusOf(secret), await statusOf(rotated.secret)]).toEqual([200, 200])
    expect(await done(`POST /keys/${id}/end-grace`)).toMatchObject({ spent: '10', previous: null })
    expect(await statusOf(secret)).toBe(401)
    expect(await done(`POST /keys/${id}/revoke`, { confirm: 'wide' })).toMatchObject({
      status: 'revoked',
      available: '90',
    })
    expect(await statusOf(rotated.secret)).toBe(401)
    for (let i = 0; i < 3; i++) await sweep()
    expect(await at(`/keys/${id}`)).toMatchObject({ granted: '100', available: '90', spent: '10' })
    expect(await audit({ key_id: id })).toMatchObject({ ok: true, granted: '100', spent: '10' })
  })

  test('is changed within the bounds that its lanes have then, and told how to be', async () => {
    const { id } = await make({ lanes: 1, rpm: 60 })
    const far = await change(id, { rpm: 60_001 })
    expect([far.status, far.body.error]).toEqual([
      400,
      expect.objectContaining({
        param: 'rpm',
        message: expect.stringContaining(
          'is 60001, and may be at most 60000 for each lane, of which the key has 1: lower it, or raise lanes to 2.',
        ),
      }),
    ])
    expect((await change(id, { rpm: 60_001, lanes: 2 })).body).toMatchObject({ rpm: 60_001, lanes: 2 })
    expect((await change(id, { max_concurrent: 2_001 })).body.error.message).toMatch(/raise lanes to 3\./)
    expect((await change(id, { lanes: 1 })).body.error.message).toMatch(/is 60001/)
    expect((await change(id, { lanes: 1, rpm: 60 })).body).toMatchObject({
      rpm: 60,
      lanes: 1,
      granted: '100',
      available: '100',
    })
    expect((await change(id, { lanes: 33 })).body.error.message).toMatch(/from 1 to 32/)
    const created = await admin.call('POST /keys', { body: { ...WIDE, rpm: 240_001 }, headers: once() })
    expect([created.status, created.body.error.message]).toEqual([400, expect.stringMatching(/raise lanes to 5\./)])
    const [event] = (await at(`/keys/${id}/events`)).data
    expect(event).toMatchObject({ what: 'key.updated', before: { lanes: 2 }, after: { lanes: 1 } })
  })

  test('that was made by halves is completed by the same request, and one that was changed since stays so', async () => {
    const headers = once()
    const update = tables.database.transact
    const create = () => admin.call('POST /keys', { body: WIDE, headers })
    let transactions = 0
    tables.database.transact = (...given) => {
      transactions += 1
      if (transactions === 3) throw new Error('cut off')
      return update(...given)
    }
    const cut = await create()
    tables.database.transact = update
    expect([cut.status, transactions]).toEqual([500, 3])
    const { data: halves } = await at('/keys?limit=1')
    expect(halves).toMatchObject([{ lanes: 1, granted: '100', available: '100', account_id: null }])
    const { id } = halves[0]
    expect(await audit({ key_id: id })).toMatchObject({ ok: true })
    expect((await create()).body).toMatchObject({
      id,
      lanes: 4,
      granted: '100',
      available: '100',
      secret: null,
      replayed: true,
    })
    await change(id, { lanes: 1 })
    expect((await create()).body).toMatchObject({ id, lanes: 1 })
  })

  test('that is alone tells once when its balance falls below its level', async () => {
    const { id, secret } = await make({ credits: '10', notify_below: '4' })
    expect(await sweep()).toEqual([])
    await spendEight(id, secret)
    const told = [...(await sweep()), ...(await sweep()), ...(await sweep())]
    expect(told).toMatchObject([{ type: 'key.balance_low', data: { key_id: id } }])
    expect((await change(id, { notify_below: null })).body).toMatchObject({ notify_below: null })
    expect(await sweep()).toEqual([])
    await change(id, { lanes: 1 })
    await done(`POST /keys/${id}/grants`, { credits: '1' })
    await change(id, { notify_below: '5' })
    const again = [...(await sweep()), ...(await sweep())]
    expect(again).toMatchObject([{ type: 'key.balance_low', data: { key_id: id, balance: '3' } }])
  })

  test('joins no account, and neither it, its pool nor its lanes is another thing', async () => {
    const { id } = await make()
    const { id: account } = await done('POST /accounts', { name: 'acme' })
    const { status, body } = await admin.call(`POST /keys/${id}/adopt`, { body: { account } })
    expect([status, body.error.message]).toEqual([409, expect.stringMatching(/^The key '[^']+' has lanes of its own/)])
    expect(await admin.call(`GET /accounts/${id}`)).toMatchObject({ status: 404 })
    expect(await admin.call(`GET /keys/${laneAddress(id, 1)}`)).toMatchObject({ status: 404 })
    expect((await at('/accounts')).data).toMatchObject([{ id: account }])
    expect((await at('/overview')).accounts).toEqual({ active: 1, suspended: 0, closed: 0 })
    const { text } = await admin.call('POST /audits')
    const lines = text
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line))
    expect(lines.filter(({ object }) => object === 'account.audit')).toHaveLength(1)
    expect(lines.at(-1)).toMatchObject({ accounts: 1, wrong: 0, keys: (await at('/keys?limit=100')).data.length })
  })
})

describe('a key with 4 lanes of an account', () => {
  test('is one key of it, and takes four of its places', async () => {
    const { id: account } = await done('POST /accounts', { name: 'globex', credits: '100' })
    const { credits: _, ...wide } = WIDE
    const key = await done('POST /keys', { ...wide, account })
    const { id, secret } = key
    expect(key).toMatchObject({ account_id: account, account_name: 'globex', lanes: 4 })
    await spendEight(id, secret)
    const told = await at(`/accounts/${account}`)
    expect(told).toMatchObject({ granted: '100', available: '92', spent: '8', key_count: 1, week_cost: '8' })
    expect(told.keys).toMatchObject([{ id, spent: '8', available: told.in_keys }])
    expect(await at(`/keys/${id}`)).toMatchObject({ account_id: account, spent: '8', available: told.in_keys })
    expect((await at(`/keys?account=${account}`)).data).toMatchObject([{ id, spent: '8' }])
    expect((await at('/overview')).accounts.active).toBe(2)
    expect(await audit({ account })).toMatchObject({ ok: true, keys: 1, spent: '8' })
    expect(await audit({ key_id: id })).toMatchObject({ ok: true, rows: 8, spent: '8' })
    expect(await admin.call(`POST /keys/${id}/grants`, { body: { credits: '1' }, headers: once() })).toMatchObject({
      status: 400,
      body: { error: { message: expect.stringContaining('waybill accounts grant globex 1') } },
    })
    expect(await done(`POST /accounts/${account}/suspend`)).toMatchObject({ status: 'suspended', key_count: 1 })
    expect([await statusOf(secret), (await at(`/keys/${id}`)).account_suspended]).toEqual([403, true])
    expect(await done(`POST /accounts/${account}/resume`)).toMatchObject({ status: 'active' })
    expect(await statusOf(secret)).toBe(200)
    const closed = { status: 'closed', key_count: 0, available: '91', spent: '9' }
    expect(await done(`POST /accounts/${account}/close`, { confirm: 'globex' })).toMatchObject(closed)
    expect(await statusOf(secret)).toBe(401)
    for (let i = 0; i < 3; i++) await sweep()
    expect(await at(`/accounts/${account}`)).toMatchObject({ ...closed, in_pool: '91', in_flight: '0', in_keys: '0' })
    expect(await audit({ account })).toMatchObject({ ok: true, keys: 0, retired: '9' })
    expect(await audit({ key_id: id })).toMatchObject({ ok: true, rows: 9, spent: '9' })
  })

  test('gets as many lanes as the account has room for, and is told how many those are', async () => {
    const { id: account } = await done('POST /accounts', { name: 'full' })
    const { credits: _, ...wide } = WIDE
    const keys = []
    for (let i = 0; i < 3; i++) keys.push(await done('POST /keys', { ...wide, account, lanes: 32 }))
    const { id } = await done('POST /keys', { ...wide, account, lanes: 2 })
    const told = await change(id, { lanes: 5 })
    expect([told.status, told.body.error.message]).toEqual([
      409,
      expect.stringContaining(`has room for 2 more purses, and 3 would be needed. It can have ${MOST_KEYS}`),
    ])
    expect(await at(`/keys/${id}`)).toMatchObject({ lanes: 2 })
    const made = await admin.call('POST /keys', { body: { ...wide, account, lanes: 3 }, headers: once() })
    expect([made.status, made.body.error.message]).toEqual([
      409,
      expect.stringMatching(/room for 2 more purses, and 3/),
    ])
    expect((await at(`/accounts/${account}`)).key_count).toBe(4)
    await done(`POST /keys/${keys[0].id}/revoke`, { confirm: 'wide' })
    expect((await change(id, { lanes: 5 })).body).toMatchObject({ lanes: 5 })
  })
})

describe('the audit of a key with 4 lanes', () => {
  async function spent() {
    const { id, secret } = await make()
    await spendEight(id, secret)
    expect(await audit({ key_id: id })).toMatchObject({ ok: true, balances: true })
    return { id, pool: (await verbs.readAccount(id)) as NonNullable<Awaited<ReturnType<typeof verbs.readAccount>>> }
  }
  const write = (key: object, UpdateExpression: string, more: object = {}) =>
    tables.database.update({
      TableName: tables.keys,
      Key: key as Record<string, string>,
      UpdateExpression,
      ...more,
    })
  const ONE = { ExpressionAttributeValues: { ':one': credits('50') } }
  const textOf = ({ findings }: { findings: readonly { text: string }[] }) => findings.map(({ text }) => text).join(' ')

  test('names credits that are under way to a lane, which is not wrong', async () => {
    const { id, pool } = await spent()
    await verbs.draw(pool, laneAddress(id, 2), credits('4'), time.nowMs)
    const told = await audit({ key_id: id })
    expect(told).toMatchObject({ ok: true, balances: true, available: '92' })
    expect(textOf(told)).toMatch(/\d is under way between the pool and the key key_\w+\.2\. Nothing is lost/)
  })

  test('is right while requests race over all lanes, grants come and their number changes', async () => {
    const { id, secret } = await make({ max_concurrent: 100 })
    const asked = Promise.all(Array.from({ length: 60 }, () => statusOf(secret)))
    const changed = done(`POST /keys/${id}/grants`, { credits: '1' }).then(() => change(id, { lanes: 6 }))
    for (let i = 0; i < 2; i++) expect(await audit({ key_id: id })).toMatchObject({ ok: true, balances: true })
    expect([new Set(await asked), (await changed).status]).toEqual([new Set([200]), 200])
    expect(await at(`/keys/${id}`)).toMatchObject({ lanes: 6, granted: '101', available: '41', held: '0', spent: '60' })
  })

  test.each([
    [
      'credits that were invented on a lane',
      (id: string) => write(keyItem(laneAddress(id, 1)), 'SET available = available + :one', ONE),
      /\.1 has 50 more/,
    ],
    [
      'credits that a lane says that it was given',
      (id: string) =>
        write(
          keyItem(laneAddress(id, 3)),
          'SET available = available + :one, granted = granted + :one, drawn = drawn + :one',
          ONE,
        ),
      /\.3 has taken more than it was given/,
    ],
    [
      'credits that were invented in the pool',
      (id: string) => write(accountItem(id), 'SET available = available + :one, granted = granted + :one', ONE),
      /granted is not the sum of the grants/,
    ],
    [
      'credits that the pool lost',
      (id: string) => write(accountItem(id), 'SET available = available - :one', ONE),
      /granted is not the pool/,
    ],
    [
      'a mark that is lost',
      (id: string) =>
        write(accountItem(id), 'REMOVE #out, #seen', {
          ExpressionAttributeNames: { '#out': outMark(laneAddress(id, 2)), '#seen': seenMark(laneAddress(id, 2)) },
        }),
      /does not know key_\w+\.2/,
    ],
    [
      'a charge that has no row',
      (id: string) => write(keyItem(laneAddress(id, 2)), 'SET spent = spent + :one, available = available - :one', ONE),
      /spent is not the sum of the rows/,
    ],
  ])('finds %s', async (_, damage, text) => {
    const { id } = await spent()
    await damage(id)
    const told = await audit({ key_id: id })
    expect([told.ok, textOf(told)]).toEqual([false, expect.stringMatching(text)])
  })

  test('finds a row that is missing from one of them', async () => {
    const { id } = await spent()
    const { data } = await at(`/requests?key_id=${id}`)
    await tables.database.delete({ TableName: tables.usage, Key: rowKey(data[3].request_id) })
    expect(textOf(await audit({ key_id: id }))).toMatch(/spent is not the sum of the rows: expected 7, got 8/)
  })

  test('finds what one lane of a key of an account has too much and another too little', async () => {
    const { id: account } = await done('POST /accounts', { name: 'faulty', credits: '100' })
    const { credits: _, ...wide } = WIDE
    const { id, secret } = await done('POST /keys', { ...wide, account })
    await spendEight(id, secret)
    await write(keyItem(laneAddress(id, 1)), 'SET available = available + :one', ONE)
    await write(keyItem(laneAddress(id, 2)), 'SET available = available - :one', ONE)
    const told = await audit({ key_id: id })
    expect(told).toMatchObject({ ok: false, balances: false, explained: true })
    expect(textOf(told)).toMatch(
      /in the lane key_\w+\.1 granted is not .* too much.* in the lane key_\w+\.2 .* is gone/,
    )
    expect(await audit({ account })).toMatchObject({ ok: false })
  })
})

test('docs/operate.md and the key tell the requests a second that lanes take', () => {
  expect(readFileSync('docs/operate.md', 'utf8')).toContain(`One lane takes ${rateText(1)}`)
  expect(shownText(SETTING_WORDS.lanes, 16)).toBe(
    '16 (about 1,136 requests a second with streams of 4 s, 528 with streams of 20 s, 304 with streams of 60 s)',
  )
})
