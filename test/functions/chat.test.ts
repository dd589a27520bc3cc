import { beforeAll, expect, test } from '@jest/globals'
import { HELLO, type TestGateway } from '../support/gateway.ts'
import { openBoth } from '../support/stack.ts'

let gateway: TestGateway

beforeAll(async () => {
  gateway = (await openBoth()).gateway
})

test('a chat completion is answered, billed to the token and found by its request id', async () => {
  const { key, secret } = await gateway.issue()
  const response = await gateway.post(secret, HELLO)
  expect(response.status).toBe(200)
  const body = (await response.json()) as Record<string, unknown>
  expect(body.choices).toEqual([
    {
      index: 0,
      message: { role: 'assistant', content: 'Hello', refusal: null },
      logprobs: null,
      finish_reason: 'stop',
    },
  ])
  const row = await gateway.readRow(response.headers.get('x-request-id'))
  expect(row.cost).toBe(20_000n)
  expect(response.headers.get('x-svc-cost')).toBe('0.00002')
  expect((await gateway.readKey(key.id)).spent).toBe(20_000n)
})
