import { afterAll, expect, test } from '@jest/globals'
import { type Ask, openAdminApi } from '../../examples/stripe/admin-api.ts'
import { makeAdminKey, startSignedAdmin } from '../support/signed-admin.ts'
import { openBoth } from '../support/stack.ts'
import { openShop, paid } from './support/shop.ts'

const stack = new AsyncDisposableStack()
afterAll(() => stack.disposeAsync())

/** A stage's admin API, and an admin key with the scopes and the bound that the guide says. */
async function openAsStage(dailyGrant: bigint): Promise<Ask> {
  const { gateway } = await openBoth()
  const admin = stack.use(await startSignedAdmin(gateway.tables, gateway.baseUrl))
  const scopes = ['keys.read', 'keys.write', 'credits.grant'] as const
  const key = await makeAdminKey(gateway.tables, { scopes, dailyGrant: dailyGrant * 10n ** 9n })
  return openAdminApi(`${admin.url}/keyed/`, key)
}

test('an admin key with the scopes of the guide does all that the shop asks, and no more than its bound of a day', async () => {
  const ask = await openAsStage(30n)
  const body = { name: 'ann', external_id: 'cs_1', credits: '25.00', reference: 'cs_1', notify_below: '1' }
  const { status, body: key } = await ask('POST', '/keys', body, 'cs_1')
  expect([status, key.available]).toEqual([201, '25'])
  const found = await ask('GET', '/keys?external_id=cs_1')
  expect(found.body.data).toMatchObject([{ id: key.id }])
  const rotated = await ask('POST', `/keys/${key.id}/rotate`, { grace_seconds: 0 }, 'show-cs_1')
  expect(rotated.body.secret).toMatch(/^svc_/)
  const grant = (credits: string, session: string) =>
    ask('POST', `/keys/${key.id}/grants`, { credits, reference: session }, session)
  expect((await grant('5.00', 'cs_2')).status).toBe(201)
  expect(await grant('0.01', 'cs_3')).toMatchObject({ status: 403, body: { error: { code: 'daily_grant_exceeded' } } })
})

/** The status that Stripe gets from a shop for a purchase of 25 dollars. */
async function statusOf(ask: Ask): Promise<number> {
  const given = { ask, noticeSecret: 'n', mail: async () => {}, log: () => {}, clock: Date.now }
  const { send } = await openShop(given, stack)
  return (await send(paid())).status
}

test('while the gateway is away, or the day’s grants are used up, Stripe is told to come again', async () => {
  expect(await statusOf(openAdminApi('http://127.0.0.1:1/keyed', 'svc_admin_x'))).toBe(503)
  expect(await statusOf(await openAsStage(24n))).toBe(503)
  expect(await statusOf(await openAsStage(25n))).toBe(200)
})
