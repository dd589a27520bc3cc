import { describe, expect, test } from '@jest/globals'
import { HELLO } from '../support/gateway.ts'
import { openBoth } from '../support/stack.ts'
import { chunk, event, sse, status } from '../support/upstream.ts'
import * as schema from './support/answers.ts'
import { gather } from './support/gather.ts'
import { dataOf, framesOf, readChunks } from './support/read-chunks.ts'
import { SCENARIOS } from './support/scenarios.ts'

const { upstream, gateway } = await openBoth()

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
  test.each<[string, unknown]>([
    ['with nothing but a message', { error: { message: 'No.' } }],
    ['that is not JSON', 'No.'],
    ['with empty fields', { error: { message: 'No.', type: null, param: '', code: '' } }],
  ])('the error for an upstream’s complaint %s has OpenAI’s four fields', async (_, complaint) => {
    upstream.reply = status(400, complaint)
    const { secret } = await gateway.issue()
    const response = await gateway.post(secret, HELLO)
    expect(response.status).toBe(400)
    expect(response.headers.get('content-type')).toBe('application/json')
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

test('the list of models and the entry of one follow their schema', async () => {
  const { secret } = await gateway.issue()
  const read = async (path: string) => (await gateway.get(secret, path)).json()
  expect(schema.modelList.parse(await read('/v1/models')).data.map(({ id }) => id)).toEqual(['test-model'])
  expect(schema.model.parse(await read('/v1/models/test-model')).id).toBe('test-model')
})
