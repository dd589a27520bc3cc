import { expect, test } from '@jest/globals'
import OpenAI, { BadRequestError } from 'openai'
import { formatCredits } from '../../layers/gateway/domain/money/money.ts'
import { HELLO } from '../support/gateway.ts'
import { openBoth } from '../support/stack.ts'

type Quote = { readonly hold: string }

test('openai-node gets a quote by client.post, and then holds exactly that', async () => {
  const { gateway, upstream } = await openBoth()
  const { secret: apiKey } = await gateway.issue()
  const client = new OpenAI({ apiKey, baseURL: `${gateway.baseUrl}/v1`, maxRetries: 0 })
  const body = {
    model: HELLO.model,
    messages: [{ role: 'user' as const, content: 'Grüße, "Welt" 🚀' }],
    max_tokens: 50,
  }
  const { hold } = await client.post<Quote>('/quote', { body: { endpoint: '/v1/chat/completions', body } })
  expect(upstream.requests).toHaveLength(0)
  const { response } = await client.chat.completions.create(body).withResponse()
  const row = await gateway.readRow(response.headers.get('x-request-id'))
  expect(formatCredits(row.hold)).toBe(hold)
  const wrong = client.post('/quote', { body: { endpoint: '/v1/chat/completions', body: { ...body, max_tokens: 0 } } })
  await expect(wrong).rejects.toThrow(BadRequestError)
  await expect(wrong).rejects.toMatchObject({ param: 'max_tokens' })
})
