import { beforeAll, describe, expect, test } from '@jest/globals'
import { HELLO, type TestGateway } from '../support/gateway.ts'
import { openBoth } from '../support/stack.ts'
import { chunk, event, type Reply, say, sse, status, type Upstream } from '../support/upstream.ts'
import * as schema from './support/answers.ts'
import { gather } from './support/gather.ts'
import { dataOf, framesOf, readChunks } from './support/read-chunks.ts'
import { SCENARIOS } from './support/scenarios.ts'

let upstream: Upstream
let gateway: TestGateway

beforeAll(async () => {
  ;({ upstream, gateway } = await openBoth())
})

describe.each(Object.entries(SCENARIOS))('answers', (name, { reply, request = {}, says }) => {
  test(`a completion follows OpenAI’s schema for ${name}`, async () => {
    upstream.reply = reply
    const { secret } = await gateway.issue()
    const response = await gateway.post(secret, { ...HELLO, ...request })
    expect(response.status).toBe(200)
    const body = schema.completion.parse(await response.json())
    expect(body.model).toBe('test-model')
    expect(body.choices.map(({ index }) => index)).toEqual([...says.keys()])
    for (const [index, said] of says.entries()) {
      const { message, ...rest } = body.choices[index] ?? {}
      expect({ ...rest, ...message }).toMatchObject(said)
    }
  })

  test.each([{ include_usage: false }, { include_usage: true }])(
    `a stream follows OpenAI’s schema for ${name} (include_usage: $include_usage)`,
    async (stream_options) => {
      upstream.reply = reply
      const { secret } = await gateway.issue()
      const response = await gateway.post(secret, { ...HELLO, ...request, stream: true, stream_options })
      expect(response.status).toBe(200)
      const chunks = readChunks(await response.text(), stream_options.include_usage)
      expect(chunks.flatMap(({ choices }) => choices).map(({ index }) => index)).toEqual(
        expect.arrayContaining([...says.keys()]),
      )
      for (const [index, said] of says.entries()) expect(gather(chunks, index)).toMatchObject(said)
    },
  )
})

describe('errors', () => {
  const REFUSALS: Record<string, { request?: string; reply?: Reply }> = {
    'bad JSON': { request: '{' },
    'an upstream’s complaint with nothing but a message': {
      reply: status(400, { error: { message: 'No.' } }),
    },
    'an upstream’s complaint that is not JSON': { reply: status(400, 'No.') },
    'an upstream’s complaint with empty fields': {
      reply: status(400, { error: { message: 'No.', type: null, param: '', code: '' } }),
    },
  }

  test.each(Object.entries(REFUSALS))('the error for %s has OpenAI’s four fields', async (_, refusal) => {
    upstream.reply = refusal.reply ?? say('Hello')
    const { secret } = await gateway.issue()
    const response = await gateway.post(secret, refusal.request ?? HELLO)
    expect(response.status).toBe(400)
    expect(response.headers.get('content-type')).toBe('application/json')
    schema.errorAnswer.parse(await response.json())
  })

  test.each([
    ['an unknown key', 401, '/v1/models'],
    ['an unknown path', 404, '/v1/nothing'],
    ['a wrong method', 405, '/v1/chat/completions'],
  ])('the error for %s has OpenAI’s four fields', async (_, expected, path) => {
    const { secret } = await gateway.issue()
    const response = await gateway.get(expected === 401 ? 'stranger' : secret, path)
    expect(response.status).toBe(expected)
    schema.errorAnswer.parse(await response.json())
  })

  test('an error in the middle of a stream is one frame with OpenAI’s four fields, and ends the stream', async () => {
    upstream.reply = sse([chunk({ role: 'assistant', content: 'Hel' }), event({ error: { message: 'overloaded' } })])
    const { secret } = await gateway.issue()
    const frames = framesOf(await (await gateway.post(secret, { ...HELLO, stream: true })).text())
    expect(frames).toHaveLength(2)
    schema.chunk.parse(dataOf(frames[0]))
    schema.errorAnswer.parse(dataOf(frames[1]))
  })
})

test('the list of models follows OpenAI’s schema', async () => {
  const { secret } = await gateway.issue()
  const body = await (await gateway.get(secret, '/v1/models')).json()
  expect(schema.modelList.parse(body).data.map(({ id }) => id)).toEqual(['test-model'])
})

test('the entry of a model follows OpenAI’s schema', async () => {
  const { secret } = await gateway.issue()
  const body = await (await gateway.get(secret, '/v1/models/test-model')).json()
  expect(schema.model.parse(body).id).toBe('test-model')
})
