import { expect, test } from '@jest/globals'
import { OpenAIEmbeddings } from '@langchain/openai'
import OpenAI from 'openai'
import { embed, embeddingCatalog, vectorAt } from '../support/embeddings.ts'
import { openFor, openUpstream } from '../support/stack.ts'
import * as schema from './support/answers.ts'

const upstream = await openUpstream(embed())
const gateway = await openFor(embeddingCatalog([upstream.url]))
const { secret: apiKey } = await gateway.issue({ scopes: ['embeddings'], rpm: 60_000 })
const baseURL = `${gateway.baseUrl}/v1`
const client = new OpenAI({ apiKey, baseURL, maxRetries: 0 })
const model = 'test-embedding'

test('openai-node gets a vector in the format that it asks for by itself', async () => {
  const { data, usage } = await client.embeddings.create({ model, input: 'Hello' })
  expect(upstream.requests.at(-1)?.body.encoding_format).toBe('base64')
  expect([data[0]?.embedding, usage.prompt_tokens]).toEqual([vectorAt(0), 10])
})

test('openai-node gets a vector from an upstream that gives numbers in place of base64', async () => {
  upstream.reply = embed({ format: 'float' })
  const { data } = await client.embeddings.create({ model, input: 'Hello' })
  expect(data[0]?.embedding).toEqual(vectorAt(0))
})

test.each(['float', 'base64'] as const)(
  'openai-node gets a batch of shorter vectors as %s',
  async (encoding_format) => {
    upstream.reply = embed()
    const { data } = await client.embeddings.create({ model, input: ['a', 'b'], dimensions: 2, encoding_format })
    const bytes = (value: unknown) =>
      typeof value === 'string' ? [...new Float32Array(new Uint8Array(Buffer.from(value, 'base64')).buffer)] : value
    expect(data.map(({ embedding }) => bytes(embedding))).toEqual([vectorAt(0, 2), vectorAt(1, 2)])
  },
)

test.each([{}, { encoding_format: 'float' }, { encoding_format: 'base64' }, { input: [[1], [2]], dimensions: 3 }])(
  'an embedding follows OpenAI’s schema for %j',
  async (wish) => {
    upstream.reply = embed()
    const response = await gateway.post(apiKey, { model, input: 'Hello', ...wish }, {}, '/v1/embeddings')
    const { data } = schema.embeddingList.parse(await response.json())
    const form = wish.encoding_format === 'base64' ? 'string' : 'object'
    expect(data.filter(({ embedding }) => typeof embedding !== form)).toEqual([])
  },
)

test('openai-node throws its own errors for what the gateway refuses', async () => {
  const refused = client.embeddings.create({ model: 'test-model', input: 'Hello' })
  await expect(refused).rejects.toMatchObject({ status: 400, param: 'model' })
  const stranger = new OpenAI({ apiKey: (await gateway.issue()).secret, baseURL, maxRetries: 0 })
  const forbidden = stranger.embeddings.create({ model, input: 'Hello' })
  await expect(forbidden).rejects.toMatchObject({ status: 403, code: 'insufficient_scope' })
})

test('LangChain embeds documents in batches, and a query', async () => {
  upstream.reply = embed()
  const embeddings = new OpenAIEmbeddings({ model, apiKey, batchSize: 2, configuration: { baseURL } })
  expect(await embeddings.embedDocuments(['a', 'b', 'c'])).toEqual([vectorAt(0), vectorAt(1), vectorAt(0)])
  expect(await embeddings.embedQuery('a')).toEqual(vectorAt(0))
})
