import { beforeAll, describe, expect, test } from '@jest/globals'
import { readCompletionRequest } from '../../layers/gateway/contracts/completions/completion-request.ts'
import { readEmbeddingRequest } from '../../layers/gateway/contracts/embeddings/embeddings.ts'
import { embed, embeddingCatalog } from '../support/embeddings.ts'
import type { TestGateway } from '../support/gateway.ts'
import { openFor, openUpstream } from '../support/stack.ts'
import { write } from '../support/texts.ts'
import { status, type Upstream } from '../support/upstream.ts'
import { expectDocumented } from './support/expect-documented.ts'
import { answerOf, checkerOf, operation } from './support/openapi.ts'

const COMPLETIONS = operation('/v1/completions', 'post')
const EMBEDDINGS = operation('/v1/embeddings', 'post')
const TEXT = { model: 'test-model', prompt: 'Hello' }
const VECTOR = { model: 'test-embedding', input: 'Hello' }

let upstream: Upstream
let gateway: TestGateway
let secret: string

beforeAll(async () => {
  upstream = await openUpstream()
  gateway = await openFor(embeddingCatalog([upstream.url]))
  secret = (await gateway.issue({ scopes: ['chat.completions', 'embeddings', 'models.read'], rpm: 60_000 })).secret
})

function post(path: string, body: object): Promise<Response> {
  return fetch(gateway.baseUrl + path, {
    method: 'POST',
    headers: { Authorization: `Bearer ${secret}`, 'Content-Type': 'application/json' },
    body: JSON.stringify(body),
  })
}

test.each([{}, { logprobs: 1 }, { echo: true, n: 2 }])(
  'a text completion is as docs/openapi.json says, whole and streamed: %j',
  async (wish) => {
    upstream.reply = write('n' in wish ? ['1', '2'] : ['1'])
    await expectDocumented(await post('/v1/completions', { ...TEXT, ...wish }), answerOf(COMPLETIONS, 200))
    const streamed = { ...TEXT, ...wish, stream: true, stream_options: { include_usage: true } }
    const events = await expectDocumented(await post('/v1/completions', streamed), answerOf(COMPLETIONS, 200))
    expect(events).toContainEqual(expect.objectContaining({ choices: [], usage: expect.anything() }))
  },
)

test.each(['float', 'base64'])('an embedding is as docs/openapi.json says, as %s', async (encoding_format) => {
  upstream.reply = embed()
  const response = await post('/v1/embeddings', { ...VECTOR, encoding_format })
  expect(response.status).toBe(200)
  await expectDocumented(response, answerOf(EMBEDDINGS, 200))
})

test('an embedding model, and the row of an embedding, are as docs/openapi.json says', async () => {
  upstream.reply = embed()
  const id = (await post('/v1/embeddings', VECTOR)).headers.get('x-request-id')
  const model = await gateway.get(secret, '/v1/models/test-embedding')
  await expectDocumented(model, answerOf(operation('/v1/models/{id}', 'get'), 200))
  const row = await gateway.get(secret, `/v1/usage/${id}`)
  await expectDocumented(row, answerOf(operation('/v1/usage/{id}', 'get'), 200))
})

test.each([
  ['/v1/completions', COMPLETIONS, TEXT],
  ['/v1/embeddings', EMBEDDINGS, VECTOR],
])('the errors of %s are as docs/openapi.json says', async (path, documented, body) => {
  upstream.reply = status(500, 'broken')
  for (const [code, change] of [
    [400, { n: 0, dimensions: 0 }],
    [404, { model: 'none' }],
    [502, {}],
  ] as const) {
    const response = await post(path, { ...body, ...change })
    expect(response.status).toBe(code)
    await expectDocumented(response, answerOf(documented, code))
  }
})

describe.each([
  ['text completion', COMPLETIONS, TEXT, readCompletionRequest],
  ['embedding', EMBEDDINGS, VECTOR, readEmbeddingRequest],
] as const)('requests', (name, documented, good, read) => {
  const checker = checkerOf(documented.requestBody?.content['application/json']?.schema ?? {})
  const field = name === 'embedding' ? 'input' : 'prompt'
  const isTaken = (value: object) => {
    try {
      return read({ value, bytes: 1, callerId: 'key' }) !== undefined
    } catch {
      return false
    }
  }

  test.each<[boolean, object]>([
    [true, {}],
    [true, { [field]: ['a', 'b'], user: null, [name === 'embedding' ? 'dimensions' : 'best_of']: null }],
    [true, { [field]: [1, 2] }],
    [true, { [field]: [[1], [2]] }],
    [false, { [field]: null }],
    [false, { [field]: [] }],
    [false, { [field]: {} }],
    [false, { [field]: ['a', 1] }],
    [false, { [field]: [[]] }],
    [false, { [field]: [-1] }],
    [false, { [field]: Array(2_049).fill('a') }],
    [false, { model: '' }],
    [false, { user: 1 }],
    ...(name === 'embedding'
      ? ([
          [false, { input: '' }],
          [false, { dimensions: 0 }],
          [false, { encoding_format: 'int8' }],
          [true, { encoding_format: 'base64', dimensions: 1 }],
        ] as [boolean, object][])
      : ([
          [false, { logprobs: 6 }],
          [false, { max_tokens: 0 }],
          [false, { n: 129 }],
          [false, { echo: 'yes' }],
          [true, { logprobs: 0, suffix: 'x', n: 128 }],
        ] as [boolean, object][])),
  ])(`docs/openapi.json and the gateway agree (valid: %p) on a request for a ${name} with %j`, (isValid, extra) => {
    const request = { ...good, ...extra }
    expect([checker.safeParse(request).success, isTaken(request)]).toEqual([isValid, isValid])
  })
})
