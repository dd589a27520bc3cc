import { expect, test } from '@jest/globals'
import { createSweep } from '../../functions/sweep/create.ts'
import { webhookTeller } from '../../functions/sweep/webhook.ts'
import { DAY_MS } from '../../layers/gateway/domain/basics/time.ts'
import { type Delivery, listDeliveries } from '../../layers/gateway/store/notices/deliveries.ts'
import type { NoticeBody } from '../../layers/gateway/wire/keys/notice-body.ts'
import { adminOf, walk } from '../admin-api/support/admin.ts'
import { HELLO } from '../support/gateway.ts'
import { intercept } from '../support/intercept.ts'
import { openBoth, openServer } from '../support/stack.ts'

let nowMs = Date.UTC(2026, 10, 17, 12)
const price = { input: '0', output: '0', request: '0.1' }
const { gateway } = await openBoth({ model: { price }, clock: () => nowMs })
const { tables } = gateway

const logged = async (): Promise<Delivery[]> => Array.fromAsync(listDeliveries(tables)())
const ofKey = async (id: string) => (await logged()).filter(({ owner_id }) => owner_id === id)

/** A key whose notice of a low balance is due. */
async function low(): Promise<string> {
  const { key, secret } = await gateway.issue({ credits: '1', notifyBelow: 10n ** 9n })
  await gateway.post(secret, { ...HELLO, max_tokens: 10 })
  nowMs += 5 * 60_000
  return key.id
}

test('a sweep that dies after any of its calls of the database leaves a notice that is told under one id, and noted as told', async () => {
  for (let dieAfter = 1; ; dieAfter++) {
    const keyId = await low()
    const told: NoticeBody[] = []
    const tell = async (notice: NoticeBody) => void (notice.data.key_id === keyId && told.push(notice))
    let calls = 0
    const restore = intercept(tables, async (send) => {
      if (calls >= dieAfter) throw new Error('dead')
      calls += 1
      return send()
    })
    await createSweep(gateway.instance, tell)().catch(() => {})
    restore()
    nowMs += 5 * 60_000
    await createSweep(gateway.instance, tell)()
    expect([dieAfter, new Set(told.map(({ id }) => id)).size]).toEqual([dieAfter, 1])
    const [delivery, ...more] = await ofKey(keyId)
    expect([more, delivery]).toMatchObject([[], { id: told[0]?.id, status: 'told', error: null }])
    expect(delivery?.tries).toBeLessThanOrEqual(told.length)
    if (calls < dieAfter) break
  }
})

test('a webhook that fails is noted with its error, then as told; a notice that nobody takes is given up, and stays told if it was', async () => {
  const statuses = [500, 500, 500, 500, 204]
  const url = await openServer((_, response) => void response.writeHead(statuses.shift() ?? 400).end())
  const tell = webhookTeller(url, async () => `whsec_${Buffer.alloc(32).toString('base64')}`, 1)
  const keyId = await low()
  await createSweep(gateway.instance, tell)()
  expect(await ofKey(keyId)).toMatchObject([
    { type: 'key.balance_low', status: 'failed', tries: 1, error: 'The webhook answered with status 500.' },
  ])
  await createSweep(gateway.instance, tell)()
  expect(await ofKey(keyId)).toMatchObject([{ status: 'told', tries: 2, by: 'webhook', error: null }])
  const lost = await low()
  await createSweep(gateway.instance, tell)()
  nowMs += 4 * DAY_MS
  await createSweep(gateway.instance, tell)()
  expect(await ofKey(lost)).toMatchObject([
    { status: 'given_up', tries: 1, by: null, error: 'The webhook answered with status 400.' },
  ])
  expect(JSON.stringify(await logged())).not.toMatch(/whsec|svc_live/)
})

test('the admin API lists them, newest first, page by page; they expire after 30 days', async () => {
  const admin = adminOf(tables)
  const all = await Array.fromAsync(walk<Delivery>(admin, 'GET /notices?limit=1'))
  expect(all).toEqual(await logged())
  expect(all.map(({ id }) => id)).toEqual(
    all
      .map(({ id }) => id)
      .toSorted()
      .reverse(),
  )
  const { Items = [] } = await tables.database.query({
    TableName: tables.keys,
    KeyConditionExpression: 'pk = :log',
    ExpressionAttributeValues: { ':log': 'NOTICES' },
  })
  for (const { expiresAt, last_at } of Items) {
    expect(Number(expiresAt) * 1000 - Date.parse(String(last_at))).toBe(30 * DAY_MS)
  }
  expect(Items.length).toBe(all.length)
})
