import { expect, test } from '@jest/globals'
import { requireCatalog } from '../../../layers/catalog/parse-catalog.ts'
import { openFor } from '../../support/stack.ts'
import { openBedrock, type Reply, refuse } from './bedrock-upstream.ts'

const { upstream } = await openBedrock()
const model = { kind: 'embedding', contextLength: 8_192, dimensions: 3, price: { input: '1' } }
const at = (name: string, priority = 0) => ({ provider: 'bedrock', model: name, priority })
const COHERE = 'cohere.embed-multilingual-v3'
const gateway = await openFor(
  requireCatalog({
    providers: { bedrock: { type: 'bedrock', region: 'us-east-1' } },
    models: [
      { id: 'titan', ...model, routes: [at('amazon.titan-embed-text-v2:0')] },
      { id: 'two-routes', ...model, routes: [at('amazon.titan-embed-text-v1'), at(COHERE, 1)] },
      { id: 'cohere', ...model, routes: [at(COHERE)] },
    ],
  }),
)

const vectorOf = (text: string) => [text.length, 0.25, -0.5]

async function ask(body: object) {
  const { response, status, text, row } = await gateway.ask(body, { scopes: ['embeddings'], path: '/v1/embeddings' })
  const answer = JSON.parse(text) as { data: { embedding: unknown }[]; error: { param: string } }
  const cost = response.headers.get('x-svc-cost')
  return { status, cost, answer, row, vectors: answer.data?.map(({ embedding }) => embedding) }
}

function answerWith(answer: unknown, headers: Record<string, string> = {}): Reply {
  return (stream) => {
    stream.respond({ ':status': 200, 'content-type': 'application/json', ...headers })
    stream.end(typeof answer === 'string' ? answer : JSON.stringify(answer))
  }
}

const titan: Reply = (stream, request) => {
  const text = String(request.body.inputText)
  answerWith({ embedding: vectorOf(text), inputTextTokenCount: text.length })(stream, request)
}

const cohere: Reply = (stream, request) => {
  const texts = request.body.texts as string[]
  const counted = { 'x-amzn-bedrock-input-token-count': String(texts.length * 2) }
  answerWith({ embeddings: { float: texts.map(vectorOf) }, response_type: 'embeddings_by_type' }, counted)(
    stream,
    request,
  )
}

test('Titan is asked one text a call, its vectors come in order, and its counts are summed', async () => {
  upstream.reply = titan
  const asked = upstream.requests.length
  const texts = Array.from({ length: 20 }, (_, i) => 'x'.repeat(i + 1))
  const { status, vectors, row } = await ask({ model: 'titan', input: texts, dimensions: 3, user: 'u' })
  expect([status, vectors]).toEqual([200, texts.map(vectorOf)])
  expect(row).toMatchObject({ promptTokens: 210, cost: 210_000n, usageSource: 'upstream', provider: 'bedrock' })
  const calls = upstream.requests.slice(asked)
  expect(calls).toHaveLength(20)
  expect(calls[0]).toMatchObject({
    path: 'POST /model/amazon.titan-embed-text-v2%3A0/invoke',
    body: { inputText: expect.any(String), dimensions: 3 },
  })
})

test('Cohere is asked 96 texts a call, and its count is the one that Bedrock bills by', async () => {
  upstream.reply = cohere
  const asked = upstream.requests.length
  const texts = Array.from({ length: 100 }, (_, i) => 'x'.repeat(i + 1))
  const { vectors, row } = await ask({ model: 'cohere', input: texts, input_type: 'search_query' })
  expect(vectors).toEqual(texts.map(vectorOf))
  expect(row).toMatchObject({ promptTokens: 200, usageSource: 'upstream' })
  const calls = upstream.requests.slice(asked).map(({ body }) => body)
  expect(calls.map(({ texts: some }) => (some as string[]).length).toSorted()).toEqual([4, 96])
  expect(calls[0]).toMatchObject({ input_type: 'search_query', embedding_types: ['float'] })
})

test('a caller gets base64 from Bedrock, too, which has numbers only', async () => {
  upstream.reply = cohere
  const { vectors } = await ask({ model: 'cohere', input: 'abc', encoding_format: 'base64' })
  expect(vectors).toEqual([Buffer.from(Float32Array.from(vectorOf('abc')).buffer).toString('base64')])
})

test('what Bedrock has not counted is estimated', async () => {
  upstream.reply = answerWith({ embeddings: [vectorOf('a')] })
  const { status, row } = await ask({ model: 'cohere', input: 'Hello there' })
  expect(status).toBe(200)
  expect(row).toMatchObject({ usageSource: 'estimate', promptTokens: 2 })
})

test.each([
  ['token ids', { model: 'titan', input: [1, 2] }, 'input'],
  ['an unknown field', { model: 'titan', input: 'a', plugins: [] }, 'plugins'],
])('Bedrock has no words for %s: a 400 that names it', async (_, body, param) => {
  const { status, answer } = await ask(body)
  expect([status, answer.error.param]).toEqual([400, param])
})

test.each<[string, Reply]>([
  ['garbage', answerWith('garbage')],
  ['a vector that is too short', answerWith({ embedding: [1], inputTextTokenCount: 1 })],
  ['no vector', answerWith({})],
])('%s in place of a vector is a 502, and paid', async (_, reply) => {
  upstream.reply = reply
  const { status, row } = await ask({ model: 'titan', input: ['a', 'b', 'c'] })
  expect(status).toBe(502)
  expect(row.cost).toBeGreaterThanOrEqual(1_000n)
})

test.each<[string, Reply, number]>([
  ['a busy model', refuse(429, 'ThrottlingException'), 503],
  ['a right that is missing', refuse(403, 'AccessDeniedException'), 502],
  ['a complaint of the request', refuse(400, 'ValidationException', 'Too long.'), 400],
])('%s in place of a vector is free', async (_, reply, expected) => {
  upstream.reply = reply
  const { status, row } = await ask({ model: 'titan', input: ['a', 'b', 'c'] })
  expect([status, row.cost]).toEqual([expected, 0n])
})

/** Embeds every text but this one. */
const failingAt =
  (bad: string, refusal: Reply): Reply =>
  (stream, request) =>
    (request.body.inputText === bad ? refusal : titan)(stream, request)

const TEXTS = Array.from({ length: 20 }, (_, i) => 'x'.repeat(i + 1))

test.each<[string, Reply, number, number]>([
  ['a complaint of one text', refuse(400, 'ValidationException', 'Too long.'), 400, 0],
  ['a failure of one call', refuse(500, 'InternalServerException'), 502, 0],
  ['a vector that is none', answerWith({ embedding: [1], inputTextTokenCount: 15 }), 502, 15],
])('%s costs what was embedded', async (_, refusal, expected, more) => {
  upstream.reply = failingAt('x'.repeat(15), refusal)
  const asked = upstream.requests.length
  const { status, row, cost } = await ask({ model: 'titan', input: TEXTS })
  expect(status).toBe(expected)
  const calls = upstream.requests.slice(asked).map(({ body }) => String(body.inputText).length)
  const tokens = more + calls.filter((length) => length !== 15).reduce((sum, length) => sum + length, 0)
  expect(tokens).toBeGreaterThan(0)
  expect(row).toMatchObject({ outcome: 'upstream_error', httpStatus: expected, promptTokens: tokens })
  expect(row).toMatchObject({ cost: BigInt(tokens) * 1_000n, usageSource: 'upstream', provider: 'bedrock' })
  expect(Number(cost)).toBe(tokens / 1e6)
})

test('a part that Bedrock embedded and did not count is charged by estimate', async () => {
  const uncounted: Reply = answerWith({ embedding: vectorOf('a') })
  upstream.reply = (stream, request) =>
    (request.body.inputText === 'bad' ? refuse(500, 'InternalServerException') : uncounted)(stream, request)
  const { row } = await ask({ model: 'titan', input: ['Hello there', 'Hello there', 'bad'] })
  expect(row).toMatchObject({ usageSource: 'estimate', usageRejected: false })
  expect(row.promptTokens).toBeGreaterThanOrEqual(4)
})

test('a batch that another route embeds whole is charged once', async () => {
  upstream.reply = (stream, request) =>
    (request.body.texts ? cohere : failingAt('x'.repeat(15), refuse(500, 'InternalServerException')))(stream, request)
  const { status, row } = await ask({ model: 'two-routes', input: TEXTS })
  expect([status, row.promptTokens, row.attempts.length]).toEqual([200, 40, 2])
})

test.each([
  ['texts', ['short', 'word '.repeat(9_000)], 'input[1]'],
  ['token ids', [Array(8_193).fill(1)], 'input[0]'],
])('%s that are certainly too long are a 400 that names them, before anything is asked', async (_, input, param) => {
  const asked = upstream.requests.length
  const { status, answer, row } = await ask({ model: 'titan', input })
  expect([status, answer.error]).toMatchObject([400, { param, code: 'context_length_exceeded' }])
  expect([upstream.requests.length - asked, row.cost]).toEqual([0, 0n])
})

test('a long text that is to be truncated is embedded', async () => {
  upstream.reply = cohere
  expect((await ask({ model: 'cohere', input: 'word '.repeat(9_000), truncate: 'END' })).status).toBe(200)
})

test('long texts are spread over calls', async () => {
  upstream.reply = cohere
  const asked = upstream.requests.length
  const input = Array.from({ length: 30 }, () => ' '.repeat(20_000))
  expect((await ask({ model: 'cohere', input })).status).toBe(200)
  const sizes = upstream.requests.slice(asked).map(({ body }) => JSON.stringify(body).length)
  expect(sizes).toHaveLength(3)
  expect(Math.max(...sizes)).toBeLessThan(300_000)
})
