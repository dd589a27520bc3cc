import { createHmac } from 'node:crypto'
import { request as httpRequest } from 'node:http'
import { afterAll, afterEach, expect, test } from '@jest/globals'
import { openAdminApi } from '../../examples/stripe/admin-api.ts'
import { signedHeaders } from '../../functions/sweep/webhook.ts'
import type { Key } from '../../layers/gateway/domain/keys/key.ts'
import { formatCredits } from '../../layers/gateway/domain/money/money.ts'
import { listGrants } from '../../layers/gateway/store/keys/grant-credits.ts'
import { listKeys } from '../../layers/gateway/store/keys/read-key.ts'
import { makeAdminKey, startSignedAdmin } from '../support/signed-admin.ts'
import { openBoth } from '../support/stack.ts'
import { type Answer, nowSeconds, openShop, paid, sign } from './support/shop.ts'

const NOTICE_SECRET = `whsec_${Buffer.alloc(32, 7).toString('base64')}`
const stack = new AsyncDisposableStack()
let aheadMs = 0
let asked = 0
const logged: string[] = []
const mailed: string[] = []

const gateway = (await openBoth()).gateway
const admin = stack.use(await startSignedAdmin(gateway.tables, gateway.baseUrl))
const ask = openAdminApi(`${admin.url}/keyed`, await makeAdminKey(gateway.tables))
const counted: typeof ask = (...args) => {
  asked += 1
  return ask(...args)
}
const mail = async (to: string, text: string) => void mailed.push(`${to}: ${text}`)
const log = (line: string) => logged.push(line)
const clock = () => Date.now() + aheadMs
const shop = await openShop({ ask: counted, noticeSecret: NOTICE_SECRET, mail, log, clock }, stack)
afterAll(() => stack.disposeAsync())
afterEach(() => {
  aheadMs = 0
  logged.length = 0
  mailed.length = 0
})

const keys = () => Array.fromAsync(listKeys(gateway.tables)())
const keysOf = async (session: string) => (await keys()).filter(({ externalId }) => externalId === session)
const grantsOf = async ({ id }: Key) => {
  const grants = await Array.fromAsync(listGrants(gateway.tables)(id))
  return grants.map(({ credits, reference }) => [formatCredits(credits), reference])
}
const twenty = <T>(ask: () => Promise<T>) => Promise.all(Array.from({ length: 20 }, ask))
const show = (session: string) =>
  shop.post('/welcome', `session_id=${session}`, { 'Content-Type': 'application/x-www-form-urlencoded' })
const secretIn = (text: string) => /svc_\w+/.exec(text)?.[0]

async function bought(changes: object = {}): Promise<{ session: string; key: Key }> {
  const event = paid(changes)
  expect(await shop.send(event)).toMatchObject({ status: 200, text: 'Granted.' })
  const session = event.data.object.id
  return { session, key: (await keysOf(session))[0] as Key }
}

test('a paid session makes a key with its credits, under the session as the reference', async () => {
  const { session, key } = await bought()
  expect(key).toMatchObject({ name: 'ann@example.com', available: 25_000_000_000n })
  expect(await grantsOf(key)).toEqual([['25', session]])
})

test('the key is shown once, works, and is shown to nobody again: not at once, not later, not after a month', async () => {
  const { session } = await bought()
  const pages = await Promise.all(Array.from({ length: 4 }, () => show(session)))
  const secrets = pages.flatMap(({ text }) => secretIn(text) ?? [])
  expect(secrets).toHaveLength(1)
  expect((await gateway.get(secrets[0] ?? '', '/v1/models')).status).toBe(200)
  expect(await show(session)).toMatchObject({ status: 410 })
  aheadMs = 31 * 24 * 60 * 60 * 1000
  expect(await show(session)).toMatchObject({ status: 410 })
  expect((await gateway.get(secrets[0] ?? '', '/v1/models')).status).toBe(200)
  expect(logged.join()).not.toContain('svc_')
})

test('the page itself shows nothing, so that a preview of its address uses nothing up', async () => {
  const { session } = await bought()
  const page = await (await fetch(`${shop.url}/welcome?session_id=${session}`)).text()
  expect([page.includes(session), secretIn(page)]).toEqual([true, undefined])
  const hostile = await (await fetch(`${shop.url}/welcome?session_id=${encodeURIComponent('"><script>')}`)).text()
  expect(hostile).not.toContain('<script>')
  expect(secretIn((await show(session)).text)).toBeDefined()
})

test('the same event 20 times at once, and its later kind, grant once', async () => {
  const event = paid()
  const answers = await twenty(() => shop.send(event))
  expect(answers.map(({ status }) => status)).toEqual(Array(20).fill(200))
  const later = { ...event, type: 'checkout.session.async_payment_succeeded' }
  Object.assign(later.data.object, { customer_details: { email: 'other@example.com' } })
  expect((await shop.send(later)).status).toBe(200)
  const made = await keysOf(event.data.object.id)
  expect(await Promise.all(made.map(grantsOf))).toEqual([[['25', event.data.object.id]]])
})

test('a top-up 20 times at once grants once, and does not show or change the key', async () => {
  const { session, key } = await bought()
  const secret = secretIn((await show(session)).text) ?? ''
  const topUp = paid({ client_reference_id: key.id, amount_total: 999 })
  const answers = await twenty(() => shop.send(topUp))
  expect(answers.map(({ status }) => status)).toEqual(Array(20).fill(200))
  expect(await grantsOf(key)).toEqual([
    ['25', session],
    ['9.99', topUp.data.object.id],
  ])
  expect(await show(topUp.data.object.id)).toMatchObject({ status: 404 })
  expect((await gateway.get(secret, '/v1/models')).status).toBe(200)
})

test('a stranger who pays for a key that was not shown yet cannot see it', async () => {
  const { session, key } = await bought()
  const stranger = paid({ client_reference_id: key.id, amount_total: 1 })
  expect((await shop.send(stranger)).status).toBe(200)
  expect(secretIn((await show(stranger.data.object.id)).text)).toBeUndefined()
  expect(secretIn((await show(session)).text)).toBeDefined()
})

test.each<[string, object, type?: string]>([
  ['an unpaid session', { payment_status: 'unpaid' }],
  ['a session that needs no payment', { payment_status: 'no_payment_required', amount_total: 0 }],
  ['an amount of 0', { amount_total: 0 }],
  ['only tax', { amount_total: 100, total_details: { amount_tax: 100 } }],
  ['another product', { metadata: {} }],
  ['no metadata', { metadata: null }],
  ['an event of another kind', {}, 'payment_intent.succeeded'],
  ['an expired session', {}, 'checkout.session.expired'],
])('%s grants nothing, and Stripe need not repeat it', async (_, changes, type = 'checkout.session.completed') => {
  const before = asked
  expect(await shop.send(paid(changes, type))).toMatchObject({ status: 200, text: expect.stringContaining('Ignored') })
  expect(asked).toBe(before)
})

test.each<[string, object]>([
  ['another currency', { currency: 'eur' }],
  ['a currency in capitals', { currency: 'USD' }],
  ['no currency', { currency: null }],
  ['a negative amount', { amount_total: -100 }],
  ['a fraction of a cent', { amount_total: 10.5 }],
  ['an amount as a text', { amount_total: '2500' }],
  ['an amount beyond exact numbers', { amount_total: 1e300 }],
  ['more tax than money', { amount_total: 100, total_details: { amount_tax: 200 } }],
  ['tax as a text', { total_details: { amount_tax: '1' } }],
  ['no id', { id: null }],
  ['an id that leads elsewhere', { id: 'cs_/../keys?x=1' }],
  ['a key that does not exist', { client_reference_id: 'key_01ARZ3NDEKTSV4RRFFQ69G5FAV' }],
])('%s grants nothing, and a person is told', async (_, changes) => {
  const before = (await keys()).length
  expect(await shop.send(paid(changes))).toMatchObject({ status: 422 })
  expect((await keys()).length).toBe(before)
  expect(logged.join()).toMatch(/^refused: /)
})

test('tax and shipping are not granted', async () => {
  const { key } = await bought({ amount_total: 2975, total_details: { amount_tax: 425, amount_shipping: 50 } })
  expect(formatCredits(key.available)).toBe('25')
})

test('an address of mail that no name can be makes a key without it', async () => {
  for (const email of ['a\u202eb@example.com', 'x'.repeat(300), null, 7]) {
    expect((await bought({ customer_details: { email } })).key.name).toBe('customer')
  }
})

const old = () => nowSeconds() - 301
test.each<[string, (body: string) => string]>([
  ['no signature', () => ''],
  ['a wrong secret', (body) => `t=${nowSeconds()},v1=${sign(body, nowSeconds(), 'whsec_other')}`],
  ['an empty secret', (body) => `t=${nowSeconds()},v1=${createHmac('sha256', '').update(body).digest('hex')}`],
  ['an old time', (body) => `t=${old()},v1=${sign(body, old())}`],
  ['a time to come', (body) => `t=${nowSeconds() + 400},v1=${sign(body, nowSeconds() + 400)}`],
  ['an old signature with a new time', (body) => `t=${nowSeconds()},v1=${sign(body, old())}`],
  ['no time', (body) => `v1=${sign(body, 'undefined')}`],
  ['a time that is no number', (body) => `t=NaN,v1=${sign(body, 'NaN')}`],
  ['the older scheme only', (body) => `t=${nowSeconds()},v0=${sign(body)}`],
  ['a changed body', (body) => `t=${nowSeconds()},v1=${sign(body.replace('usd', 'eur'))}`],
  ['half of the signature', (body) => `t=${nowSeconds()},v1=${sign(body).slice(0, 32)}`],
])('an event with %s is refused, and the gateway is not asked', async (_, header) => {
  const before = asked
  const body = JSON.stringify(paid())
  expect(await shop.post('/stripe', body, { 'Stripe-Signature': header(body) })).toMatchObject({ status: 400 })
  expect(asked).toBe(before)
})

test('while the secret is rolled, one of two signatures is enough', async () => {
  const body = JSON.stringify(paid())
  const header = `t=${nowSeconds()},v1=${'0'.repeat(64)},v1=${sign(body)}`
  expect(await shop.post('/stripe', body, { 'Stripe-Signature': header })).toMatchObject({ status: 200 })
})

test.each(['null', '[]', '7', '{}', '{"type":"checkout.session.completed"}', '{"data":null}', '{'])(
  'the signed body %s grants nothing',
  async (body) => {
    const before = (await keys()).length
    const { status } = await shop.post('/stripe', body, { 'Stripe-Signature': `t=${nowSeconds()},v1=${sign(body)}` })
    expect(status).toBe(200)
    expect((await keys()).length).toBe(before)
  },
)

/** Without a length, so that it has to be read to know its size. */
function sendLarge(bytes: number, headers: Record<string, string | number>): Promise<number | string> {
  return new Promise((resolve) => {
    const sent = httpRequest(`${shop.url}/stripe`, { method: 'POST', headers })
    sent.on('response', (response) => {
      response.resume()
      resolve(response.statusCode ?? 0)
    })
    sent.on('error', (error: NodeJS.ErrnoException) => resolve(error.code ?? 'error'))
    sent.end(Buffer.alloc(bytes, ' '))
  })
}

test('a body of 10 MB is refused, with its length and without, and the shop goes on', async () => {
  const size = 10 * 1024 * 1024
  for (const headers of [{ 'Content-Length': size }, { 'Transfer-Encoding': 'chunked' }]) {
    expect([413, 'ECONNRESET', 'EPIPE']).toContain(await sendLarge(size, headers))
  }
  await bought()
})

function notice(body: object, secret = NOTICE_SECRET): Promise<Answer> {
  const text = JSON.stringify(body)
  return shop.post('/notices', text, signedHeaders(secret, 'n1', Date.now(), text))
}

test('a notice of a low balance writes to the customer, once, with a link by which the same key is topped up', async () => {
  const { session, key } = await bought()
  const data = { key_id: key.id, key_name: key.name, external_id: session, balance: '0.4' }
  const low = { id: 'n1', type: 'key.balance_low', data }
  expect(await notice(low, `whsec_${Buffer.alloc(32, 8).toString('base64')}`)).toMatchObject({ status: 400 })
  expect((await shop.post('/notices', JSON.stringify(low), {})).status).toBe(400)
  expect((await shop.post('/notices', JSON.stringify(low), { Authorization: NOTICE_SECRET })).status).toBe(400)
  expect(mailed).toEqual([])
  for (const _ of [1, 2]) expect((await notice(low)).status).toBe(200)
  const link = `https://buy.stripe.com/test?client_reference_id=${key.id}`
  expect(mailed).toEqual([`ann@example.com: You have 0.4 credits left. Top up your key: ${link}`])
})

test('notices of other kinds and of other keys write to nobody', async () => {
  const data = { key_id: 'key_1', key_name: 'Acme', external_id: 'cus_42' }
  expect((await notice({ id: 'n3', type: 'key.balance_low', data })).status).toBe(200)
  expect((await notice({ id: 'n4', type: 'key.revoked', data: { ...data, external_id: 'cs_1' } })).status).toBe(200)
  expect(mailed).toEqual([])
})
