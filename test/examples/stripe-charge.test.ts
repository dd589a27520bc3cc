import type { IncomingMessage, ServerResponse } from 'node:http'
import { text } from 'node:stream/consumers'
import { afterAll, expect, test } from '@jest/globals'
import { type Ask, openAdminApi } from '../../examples/stripe/admin-api.ts'
import { cardCharger, openStripe } from '../../examples/stripe/charge.ts'
import { createSweep } from '../../functions/sweep/create.ts'
import { webhookTeller } from '../../functions/sweep/webhook.ts'
import { listGrants } from '../../layers/gateway/store/keys/grant-credits.ts'
import { HELLO } from '../support/gateway.ts'
import { makeAdminKey, startSignedAdmin } from '../support/signed-admin.ts'
import { openBoth, openServer } from '../support/stack.ts'
import { openShop } from './support/shop.ts'

const NOTICE_SECRET = `whsec_${Buffer.alloc(32, 7).toString('base64')}`
const MINUTE_MS = 60_000
const stack = new AsyncDisposableStack()
afterAll(() => stack.disposeAsync())

let nowMs = Date.UTC(2026, 10, 17, 12)
const price = { input: '0', output: '0', request: '0.1' }
const { gateway } = await openBoth({ model: { price }, clock: () => nowMs })
const admin = stack.use(await startSignedAdmin(gateway.tables, gateway.baseUrl))
const openAsk = openAdminApi(`${admin.url}/keyed`, await makeAdminKey(gateway.tables))

type Intent = { id: string; customer: string; amount: number; created: number; status: string; metadata: object }
const intents: Intent[] = []
const byKey = new Map<string, Intent>()
let withoutCard = new Set<string>()
let declined = new Set<string>()
/** The next steps of the stand-in that fail, by their numbers: before and after each thing that it does. */
let dieAt = 0
let steps = 0
const step = () => {
  steps += 1
  if (steps === dieAt) throw new Error('The connection broke.')
}

/** Stands in for Stripe: charges once for an Idempotency-Key, and lists what it charged. */
async function stripe(request: IncomingMessage, response: ServerResponse): Promise<void> {
  const url = new URL(request.url ?? '', 'http://stripe')
  step()
  const answer = (status: number, body: object) => {
    step()
    response.writeHead(status, { 'Content-Type': 'application/json' }).end(JSON.stringify(body))
  }
  if (request.method === 'GET' && url.pathname === '/v1/payment_intents') {
    const own = intents.filter(({ customer }) => customer === url.searchParams.get('customer'))
    const since = Number(url.searchParams.get('created[gte]'))
    return answer(200, { data: own.filter(({ created }) => created >= since), has_more: false })
  }
  const [, customer = ''] = /^\/v1\/customers\/(\w+)\/payment_methods$/.exec(url.pathname) ?? []
  if (customer) return answer(200, { data: withoutCard.has(customer) ? [] : [{ id: 'pm_1' }] })
  const form = new URLSearchParams(await text(request))
  const key = String(request.headers['idempotency-key'])
  const metadata = { notice: form.get('metadata[notice]'), owner: form.get('metadata[owner]') }
  const intent = byKey.get(key) ?? {
    id: `pi_${intents.length + 1}`,
    customer: form.get('customer') ?? '',
    amount: Number(form.get('amount')),
    created: Math.floor(nowMs / 1000),
    status: declined.has(form.get('customer') ?? '') ? 'requires_payment_method' : 'succeeded',
    metadata,
  }
  if (!byKey.has(key)) intents.push(intent)
  byKey.set(key, intent)
  return answer(intent.status === 'succeeded' ? 200 : 402, intent)
}

const stripeUrl = await openServer((request, response) => {
  stripe(request, response).catch(() => request.socket.destroy())
})

const ask: Ask = async (...asked) => {
  step()
  const answer = await openAsk(...asked)
  step()
  return answer
}
const charge = cardCharger(openStripe('sk_test', stripeUrl), 2_500, 5_000, () => nowMs)
const given = { ask, charge, noticeSecret: NOTICE_SECRET, mail: async () => {}, log: () => {}, clock: Date.now }
const shop = await openShop(given, stack)
const tell = webhookTeller(`${shop.url}/notices`, async () => NOTICE_SECRET, 1)

async function sweep(): Promise<void> {
  nowMs += 5 * MINUTE_MS
  await createSweep(gateway.instance, tell)()
}

const eventOf = (object: Intent) => ({
  type: 'payment_intent.succeeded',
  data: { object: { ...object, amount_received: object.amount, currency: 'usd' } },
})
const intentsOf = (customer: string) => intents.filter((intent) => intent.customer === customer)
const paidBy = (customer: string) => intentsOf(customer).filter(({ status }) => status === 'succeeded')
const grantsOf = async (id: string) =>
  (await Array.fromAsync(listGrants(gateway.tables)(id))).slice(1).map(({ credits, reference }) => [credits, reference])

/** An account, or a key that is alone, of a customer of Stripe whose balance is low by the next sweep. */
async function low(externalId: string, isAccount: boolean): Promise<{ id: string; secret: string }> {
  const settings = { credits: '1', notifyBelow: 10n ** 9n, externalId }
  const account = isAccount ? await gateway.openAccount(settings) : undefined
  const { key, secret } = await gateway.issue(account ? { account } : settings)
  await gateway.post(secret, { ...HELLO, max_tokens: 10 })
  return { id: account?.id ?? key.id, secret }
}

test('a real notice of a low balance charges once and grants once, whatever step fails, with webhooks twice, late and in any order', async () => {
  for (let fault = 1, isOver = false; !isOver; fault++) {
    const customer = `cus_${fault}`
    const { id } = await low(customer, fault % 2 === 0)
    steps = 0
    dieAt = fault
    await sweep()
    for (const intent of paidBy(customer)) await shop.send(eventOf(intent))
    isOver = steps < fault
    dieAt = 0
    await sweep()
    await sweep()
    const [intent, ...more] = paidBy(customer)
    expect([fault, more, intent?.amount]).toEqual([fault, [], 2_500])
    for (const _ of [1, 2]) {
      const answers = await Promise.all([1, 2, 3].map(() => shop.send(eventOf(intent as Intent))))
      expect(answers.map(({ status }) => status)).toEqual([200, 200, 200])
    }
    expect([fault, await grantsOf(id)]).toEqual([fault, [[25n * 10n ** 9n, intent?.id]]])
  }
})

test('a notice that comes again after Stripe has forgotten the Idempotency-Key charges nothing', async () => {
  const notice = { id: '01M7MP1PF88TGGJ0SQ19VVW7KB', customer: 'cus_again', owner: 'acct_1' }
  expect(await charge(notice)).toBe('charged')
  byKey.clear()
  nowMs += 3 * 24 * 60 * MINUTE_MS
  expect([await charge(notice), intentsOf('cus_again').length]).toEqual(['charged before', 1])
})

test('no more than the cap is charged in a month, also by twenty notices at once; the next month begins anew', async () => {
  const notices = Array.from({ length: 20 }, (_, i) => ({ id: `n${i}`, customer: 'cus_cap', owner: 'acct_1' }))
  const told = await Promise.all(notices.map(charge))
  expect(told.filter((one) => one === 'charged')).toHaveLength(2)
  expect(told.at(-1)).toBe('not charged: the cap of the month')
  nowMs = Date.UTC(2026, 11, 1)
  expect(await charge({ id: 'later', customer: 'cus_cap', owner: 'acct_1' })).toBe('charged')
})

test('without a saved card nothing is charged, and a declined card is not charged again for the same notice', async () => {
  withoutCard = new Set(['cus_none'])
  declined = new Set(['cus_declined'])
  expect(await charge({ id: 'n', customer: 'cus_none', owner: 'acct_1' })).toBe('not charged: no saved card')
  const notice = { id: 'd', customer: 'cus_declined', owner: 'acct_1' }
  expect([await charge(notice), await charge(notice)]).toEqual(['declined', 'charged before'])
  expect([intentsOf('cus_none'), intentsOf('cus_declined').length]).toEqual([[], 1])
})

test.each<[string, object, number]>([
  ['a payment of something else', { metadata: {} }, 200],
  ['another currency', { currency: 'eur' }, 422],
  ['no owner', { metadata: { notice: 'n', owner: '../keys' } }, 422],
  ['no amount', { amount_received: 0 }, 422],
])('%s grants nothing', async (_, changes, status) => {
  const { id } = await low('cus_odd', true).catch(() => ({ id: 'acct_1' }))
  const object = { id: 'pi_odd', currency: 'usd', amount_received: 2_500, metadata: { notice: 'n', owner: id } }
  const event = { type: 'payment_intent.succeeded', data: { object: { ...object, ...changes } } }
  expect((await shop.send(event)).status).toBe(status)
  expect(await grantsOf(id)).toEqual([])
})
