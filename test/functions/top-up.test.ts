import { expect, test } from '@jest/globals'
import { createSweep } from '../../functions/sweep/create.ts'
import type { NoticeBody } from '../../layers/gateway/wire/keys/notice-body.ts'
import { HELLO } from '../support/gateway.ts'
import { openBoth } from '../support/stack.ts'

const URL = 'https://shop.example/top-up'
const price = { input: '0', output: '1000', request: '0.5' }
const { gateway } = await openBoth({ model: { price }, topUpUrl: URL })

test('a refusal for the balance ends with the address at which credits are sold, a quote has it too, and another refusal has not', async () => {
  const { secret } = await gateway.issue({ credits: '0.1' })
  const { status, error } = await gateway.ask({}, { secret })
  expect([status, error.message]).toEqual([402, expect.stringMatching(/ Top up at https:\/\/shop\.example\/top-up\.$/)])
  const quoted = { endpoint: '/v1/chat/completions', body: HELLO }
  const quote = JSON.parse((await gateway.ask(quoted, { secret, path: '/v1/quote' })).text)
  expect(quote.refusal.message).toContain(`Top up at ${URL}.`)
  const limited = await gateway.ask({}, { dailyCredits: 1n })
  expect([limited.status, limited.error.message]).toEqual([429, expect.not.stringContaining(URL)])
})

test('introspection and notices of balances have the address; other notices have not', async () => {
  const told: NoticeBody[] = []
  const { secret } = await gateway.issue({ credits: '0.1', notifyBelow: 10n ** 9n, expiresAtMs: Date.now() + 60_000 })
  expect(await (await gateway.get(secret, '/v1/key/introspect')).json()).toMatchObject({ top_up_url: URL })
  await gateway.ask({}, { secret })
  await createSweep(gateway.instance, async (notice) => void told.push(notice))()
  const have = told.map(({ type, data }) => [type, data.top_up_url])
  expect(have).toContainEqual(['key.credit_balance_exhausted', URL])
  for (const [type, url] of have)
    expect([type, url]).toEqual([type, String(type).includes('balance') ? URL : undefined])
})
