import { beforeAll, expect, test } from '@jest/globals'
import { parseCatalog } from '../../../catalog/parse-catalog.ts'
import type { TestGateway } from '../../support/gateway.ts'
import { openFor } from '../../support/stack.ts'
import { type BedrockUpstream, openBedrock, type Reply, refuse } from './bedrock-upstream.ts'

let upstream: BedrockUpstream
let gateway: TestGateway
let secret: string

const vectorOf = (text: string) => [text.length, 0.25, -0.5]

beforeAll(async () => {
  ;({ upstream } = await openBedrock())
  const model = { kind: 'embedding', contextLength: 8_192, dimensions: 3, price: { input: '1' } }
  const at = (name: string) => [{ provider: 'bedrock', model: name }]
  const parsed = parseCatalog({
    providers: { bedrock: { type: 'bedrock', region: 'us-east-1' } },
    models: [
      { id: 'titan', ...model, routes: at('amazon.titan-embed-text-v2:0') },
      { id: 'cohere', ...model, routes: at('cohere.embed-multilingual-v3') },
    ],
  })
  if ('faults' in parsed) throw new Error(parsed.faults.join('; '))
  gateway = await openFor(parsed.catalog)
  secret = (await gateway.issue({ scopes: ['embeddings'], rpm: 60_000 })).secret
})

async function ask(body: object) {
  const response = await fetch(`${gateway.baseUrl}/v1/embeddings`, {
    method: 'POST',
    headers: { Authorization: `Bearer ${secret}`, 'Content-Type': 'application/json' },
    body: JSON.stringify(body),
  })
  const answer = (await response.json()) as { data: { embedding: unknown }[]; error: { param: string } }
  const row = await gateway.readRow(response.headers.get('x-request-id'))
  return { status: response.status, answer, row, vectors: answer.data?.map(({ embedding }) => embedding) }
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

test.each<[string, Reply, number]>([
  ['garbage', answerWith('garbage'), 502],
  ['a vector that is too short', answerWith({ embedding: [1], inputTextTokenCount: 1 }), 502],
  ['no vector', answerWith({}), 502],
  ['a busy model', refuse(429, 'ThrottlingException'), 503],
  ['a right that is missing', refuse(403, 'AccessDeniedException'), 502],
  ['a complaint of the request', refuse(400, 'ValidationException', 'Too long.'), 400],
])('%s in place of a vector is free', async (_, reply, expected) => {
  upstream.reply = reply
  const { status, row } = await ask({ model: 'titan', input: ['a', 'b', 'c'] })
  expect([status, row.cost]).toEqual([expected, 0n])
})
