import { expect, test } from '@jest/globals'
import { catalogFor } from '../support/gateway.ts'
import { openBoth } from '../support/stack.ts'
import { adminOf, once } from './support/admin.ts'

const { gateway, upstream } = await openBoth()
const { renew: renewCatalog } = gateway.instance.loadCatalog
const admin = adminOf(gateway.tables, { renewCatalog })

const version = async () => (await admin.call('GET /catalog')).body.version as number
const seen = async (over?: number) => ({ 'if-match': `"${over ?? (await version())}"` })
const create = async (body: object) => admin.call('POST /plans', { body, headers: await seen() })
const patch = async (name: string, body: object, over?: number) =>
  admin.call(`PATCH /plans/${name}`, { body, headers: await seen(over) })
const costs = { input: '1', output: '1.5', cachedInput: '0.5' }
const withCost = (model: object = {}) =>
  catalogFor(upstream.url, { routes: [{ provider: 'up', model: 'x', cost: costs }], ...model })
const put = async (body: object) => admin.call('PUT /catalog', { body, headers: await seen() })

test('a plan is made once, told, listed and changed over the version that was seen; the catalog tells it as a change', async () => {
  const made = await create({ name: 'gold', factor: '1.25', rpm: 120, daily_credits: '5.0', models: ['test-*'] })
  expect([made.status, made.headers.ETag]).toEqual([201, `"${made.body.version}"`])
  const limits = { rpm: 120, daily_credits: '5', models: ['test-*'], daily_limit: null, monthly_credits: null }
  expect(made.body).toMatchObject({ object: 'plan', name: 'gold', factor: '1.25', prices: {}, ...limits })
  const again = await create({ name: 'gold' })
  expect([again.status, again.body.error.param]).toEqual([409, 'name'])
  const changed = await patch('gold', {
    factor: '1.5',
    rpm: null,
    prices: { 'test-model': { input: '3', output: '4' } },
  })
  expect(changed.body).toMatchObject({ factor: '1.5', rpm: null, daily_credits: '5', version: made.body.version + 1 })
  expect((await patch('gold', { factor: '2' }, made.body.version)).status).toBe(412)
  expect((await admin.call('GET /plans')).body.data).toEqual([changed.body])
  expect((await admin.call('GET /plans/gold')).body).toEqual(changed.body)
  const { body } = await admin.call('GET /catalog')
  expect(body.changes).toEqual(['~ plan gold: factor 1.25 → 1.5, prices, defaults'])
  expect(Object.keys(body.catalog).toSorted()).toEqual(['models', 'providers'])
  const [event] = (await admin.call('GET /events?what=catalog.plan_changed&limit=1')).body.data
  expect(event.after).toEqual({ version: changed.body.version, plan: 'gold', factor: '1.5' })
  expect((await patch('gold', { prices: { 'test-model': null } })).body.prices).toEqual({})
})

test('a push and a rollback keep the plans in force, and leave the note and the order of the author to the catalog', async () => {
  const first = await version()
  await put(withCost())
  await create({ name: 'silver', factor: '1.1' })
  const { body } = await admin.call('GET /catalog')
  expect(body.source).toEqual(JSON.parse(JSON.stringify(withCost())))
  const headers = await seen()
  const back = await admin.call(`POST /catalog/versions/${first}/restore`, { headers })
  expect([back.status, (await admin.call('GET /plans/silver')).body.factor]).toEqual([200, '1.1'])
  expect((await put({ ...withCost(), plans: {} })).body.error.message).toContain("'plans'")
})

test.each([
  [{ factor: '0' }, "'factor' must be a plain decimal from 0.0001 to 100 with at most 4 decimals"],
  [{ factor: '100.0001' }, "'factor'"],
  [{ factor: '1e3' }, "'factor'"],
  [{ factor: 'abc' }, "'factor'"],
  [{ factor: '1.00001' }, "'factor'"],
  [{ factor: 1.25 }, "'factor'"],
  [{ faktor: '1' }, "There is no field 'faktor' here. Did you mean 'factor'?"],
  [{ name: 'Gold Plan' }, "'name' must be a name of 1 to 15 lower-case letters, digits and -"],
  [{ rpm: 0 }, "'rpm' must be a whole number"],
  [{ prices: { 'test-modle': { input: '1', output: '1' } } }, "Did you mean 'test-model'?"],
  [{ prices: { 'test-model': { input: '1' } } }, "'prices' of 'test-model': output"],
  [{ prices: { 'test-model': '1' } }, "'prices'"],
])('%j is refused with what is wrong', async (fields, words) => {
  const { status, body } = await create({ name: 'bad', ...fields })
  expect([status, body.error.message]).toEqual([400, expect.stringContaining(words)])
  expect((await admin.call('GET /plans/bad')).status).toBe(404)
})

test('a price below a cost is refused unless it is wanted, and a check of a catalog tells it', async () => {
  await put(withCost())
  const cheap = { name: 'cheap', factor: '0.7' }
  const refused = await create(cheap)
  expect([refused.status, refused.body.error.code]).toEqual([409, 'below_cost'])
  const loss = "in the plan 'cheap' (× 0.7), output 1.4 is below what route up/x costs (1.5)"
  expect(refused.body.error.message).toContain(loss)
  expect((await create({ ...cheap, below_cost: true })).status).toBe(201)
  expect((await patch('cheap', { rpm: 9 })).status).toBe(409)
  const { body } = await admin.call('POST /catalog/check', { body: withCost() })
  const now = await version()
  const again = async (sent: object) => [
    await put({ ...withCost(), ...sent }),
    await admin.call(`POST /catalog/versions/${now - 1}/restore`, { body: sent, headers: await seen() }),
  ]
  for (const told of await again({})) {
    expect([told.status, told.body.error.code, await version()]).toEqual([409, 'below_cost', now])
    expect(told.body.error.message).toContain(loss)
  }
  for (const { status } of await again({ below_cost: true })) expect(status).toBe(200)
  expect(body.below_cost).toEqual(expect.arrayContaining([expect.stringContaining(loss)]))
  expect(body.warnings).toEqual(expect.arrayContaining(body.below_cost))
  const own = { prices: { 'test-model': { input: '1', output: '1.4', cachedInput: '0.5' } } }
  const message = (await create({ name: 'own', ...own })).body.error.message
  expect(message).toContain("in the plan 'own', output 1.4 is below")
  await patch('cheap', { factor: '1' })
})

test('a new key has the limits of its plan, or of its account’s, where it is given none; later changes leave it alone', async () => {
  await create({ name: 'team', rpm: 7, tpm: 5000, monthly_credits: '30', models: ['test-*'] })
  const key = async (body: object) =>
    (await admin.call('POST /keys', { body: { name: 'a', ...body }, headers: once() })).body
  const limits = { rpm: 7, tpm: 5000, monthly_credits: '30', models: ['test-*'], daily_limit: 10_000 }
  const made = await key({ plan: 'team' })
  expect(made).toMatchObject({ plan: 'team', ...limits })
  expect(await key({ plan: 'team', rpm: 8, monthly_credits: null })).toMatchObject({ rpm: 8, monthly_credits: null })
  const account = (await admin.call('POST /accounts', { body: { name: 'b', plan: 'team' }, headers: once() })).body
  expect(await key({ account: account.id })).toMatchObject({ plan: null, ...limits })
  await patch('team', { rpm: 99 })
  expect((await admin.call(`GET /keys/${made.id}`)).body.rpm).toBe(7)
})

test('a plan that there is not is refused for keys and accounts, with the one that was meant', async () => {
  await create({ name: 'bronze' })
  const { key } = await gateway.issue()
  const account = await gateway.openAccount()
  const headers = { ...once(), 'if-match': '"1"' }
  for (const route of ['POST /keys', 'POST /accounts', `PATCH /keys/${key.id}`, `PATCH /accounts/${account.id}`]) {
    const body = { ...(route.startsWith('POST') && { name: 'a' }), plan: 'bronce' }
    const told = await admin.call(route, { body, headers })
    expect([told.status, told.body.error.param]).toEqual([400, 'plan'])
    expect(told.body.error.message).toContain("There is no plan 'bronce'. Did you mean 'bronze'? There are: ")
  }
  const gone = await admin.call('GET /plans/bronce')
  expect([gone.status, gone.body.error.message]).toEqual([404, expect.stringContaining("Did you mean 'bronze'?")])
})

test('a changed factor holds from the next request where the gateway is told of it', async () => {
  const [model] = catalogFor(upstream.url).models
  await put({ ...catalogFor(upstream.url), models: [{ ...model, routes: [{ provider: 'up', model: 'x' }] }] })
  await create({ name: 'live', factor: '2' })
  const { secret } = await gateway.issue({ plan: 'live' })
  const cost = async () => (await gateway.ask({}, { secret })).row.cost
  expect(await cost()).toBe(40_000n)
  await patch('live', { factor: '3' })
  expect(await cost()).toBe(60_000n)
})
