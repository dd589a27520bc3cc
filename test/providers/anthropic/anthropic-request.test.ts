import { expect, test } from '@jest/globals'
import { KEY, openAnthropic, saying } from './anthropic-fixtures.ts'

const { upstream, gateway } = await openAnthropic()

test('a request goes to Anthropic’s /messages with the key and the version', async () => {
  const paths: unknown[] = []
  upstream.reply = (response, request) => {
    paths.push([response.req.method, response.req.url])
    return saying('Hello')(response, request)
  }
  expect((await gateway.ask()).status).toBe(200)
  expect(paths).toEqual([['POST', '/v1/messages']])
  const headers = upstream.requests.at(-1)?.headers
  expect(headers).toMatchObject({
    'x-api-key': KEY,
    'anthropic-version': '2023-06-01',
    'content-type': 'application/json',
  })
  expect(headers).not.toHaveProperty('authorization')
})

async function sentMessages(...messages: object[]): Promise<unknown> {
  expect((await gateway.ask({ messages })).status).toBe(200)
  return upstream.requests.at(-1)?.body.messages
}

test('past tool arguments of up to 64 levels reach Anthropic', async () => {
  const nested = `{"a":${'['.repeat(63)}${']'.repeat(63)}}`
  const call = { id: 'c', type: 'function', function: { name: 'look', arguments: nested } }
  const messages = await sentMessages({ role: 'user', content: 'Hi' }, { role: 'assistant', tool_calls: [call] })
  expect(messages).toHaveProperty('[1].content[0].input', JSON.parse(nested))
})

test('a message of 130,000 parts reaches Anthropic whole', async () => {
  const content = Array.from({ length: 130_000 }, () => ({ type: 'text', text: 'a' }))
  const [turn] = (await sentMessages({ role: 'user', content: 'a' }, { role: 'user', content })) as {
    content: unknown[]
  }[]
  expect(turn?.content).toHaveLength(130_001)
})
