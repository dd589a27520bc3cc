import { describe, expect, test } from '@jest/globals'
import { requireCatalog } from '../../layers/catalog/parse-catalog.ts'
import { type ContractName, SCOPES } from '../../layers/gateway/endpoints.ts'
import { saying } from '../providers/anthropic/anthropic-fixtures.ts'
import { saying as sayingInResponses } from '../providers/responses/responses-upstream.ts'
import { embed } from '../support/embeddings.ts'
import { openFor, openUpstream } from '../support/stack.ts'

// Attempts of a caller to get more than it pays for: fields of other contracts, tools and tiers that are billed beside
// the tokens, files of the operator's account. None of it may reach an upstream.

const user = (content: unknown) => ({ messages: [{ role: 'user', content }] })
const said = (part: object) => ({ input: [{ role: 'user', content: [part] }] })
const FUNCTION = { type: 'function', name: 'f' }

type Tries = readonly [path: string, valid: object, refused: readonly object[], leftOut?: readonly object[]]

/** Through each contract: the valid request, and what is added to it. */
const TRIES: Readonly<Partial<Record<ContractName, Tries>>> = {
  messages: [
    '/v1/messages',
    { max_tokens: 100, ...user('Hello') },
    [
      { n: 128 },
      { best_of: 20 },
      { functions: [{ name: 'f' }] },
      { prediction: { type: 'content', content: 'a' } },
      { service_tier: 'priority' },
      { models: ['dearer'] },
      { plugins: [{ id: 'web' }] },
      { modalities: ['audio'] },
      { tools: [{ type: 'Custom', name: 'web_search' }] },
      { tools: [{ type: ['custom'], name: 'web_search' }] },
      user([{ type: 'document', source: { type: 'file', file_id: 'file_1' } }]),
      user([{ type: 'image', source: { type: 'file', file_id: 'file_1' } }]),
      user([{ type: 'container_upload', file_id: 'file_1' }]),
    ],
    [
      { speed: 'fast' },
      { inference_geo: 'us' },
      { mcp_servers: [{ type: 'url', url: 'https://example.com', name: 'x' }] },
      { container: 'container_1' },
      { fallbacks: [{ model: 'dearer' }] },
      { web_search_options: {} },
      { tools: [{ type: 'web_search_20250305', name: 'web_search' }] },
      { tools: [{ type: 'mcp_toolset', mcp_server_name: 'x' }] },
    ],
  ],
  responses: [
    '/v1/responses',
    { input: 'Hello' },
    [
      { n: 128 },
      { best_of: 20 },
      { functions: [{ name: 'f' }] },
      { max_tokens: 100_000 },
      { prediction: { type: 'content', content: 'a' } },
      { plugins: [{ id: 'web' }] },
      { include: ['everything'] },
      { tools: [{ type: 'namespace', name: 'n', tools: [{ type: 'web_search', name: 's' }] }] },
      { tools: [{ type: 'namespace', name: 'n', tools: [{ type: 'namespace', name: 'm', tools: [FUNCTION] }] }] },
      { tools: [FUNCTION], tool_choice: { type: 'web_search_preview' } },
      { tools: [FUNCTION], tool_choice: { type: 'allowed_tools', mode: 'auto', tools: [{ type: 'web_search' }] } },
      { input: [{ type: 'item_reference', id: 'rs_1' }] },
      said({ type: 'input_file', file_id: 'file_1' }),
      said({ type: 'input_image', file_id: 'file_1' }),
    ],
    [
      { service_tier: 'priority' },
      { service_tier: 'flex' },
      { tools: [{ type: 'web_search' }] },
      { tools: [{ type: 'shell', environment: { type: 'container_reference', container_id: 'container_1' } }] },
      { tools: [{ type: 'mcp', server_url: 'https://example.com' }] },
      {
        tools: [FUNCTION],
        input: [
          { type: 'additional_tools', tools: [{ type: 'web_search' }] },
          ...said({ type: 'input_text', text: 'Hi' }).input,
        ],
      },
    ],
  ],
  completions: [
    '/v1/completions',
    { prompt: 'Hello' },
    [
      { best_of: 20 },
      { n: 2, best_of: 3 },
      { prompt: ['a', 'b'], n: 100 },
      { echo: true, logprobs: 1 },
      { messages: [{ role: 'user', content: 'Hello' }] },
      { tools: [{ type: 'function', function: { name: 'f' } }] },
      { functions: [{ name: 'f' }] },
      { max_completion_tokens: 100_000 },
      { service_tier: 'priority' },
      { prompt: [1.5] },
      { prompt: ['a', [1]] },
    ],
  ],
  embeddings: [
    '/v1/embeddings',
    { input: 'Hello' },
    [
      { dimensions: 1e15 },
      { dimensions: 0.5 },
      { service_tier: 'priority' },
      { input: [[[1]]] },
      { input: [{ image: 'https://example.com/a.png' }] },
      { input: [-1] },
      { stream: true },
      { n: 2 },
    ],
  ],
}

const SMUGGLED = /web_search|mcp|fast|inference_geo|container|fallbacks|flex|priority|dearer|file_1|plugins|prediction/

const [openai, responses, anthropic, vectors] = [
  await openUpstream(),
  await openUpstream(sayingInResponses('Hello')),
  await openUpstream(saying('Hello')),
  await openUpstream(embed()),
]
const upstreams = [openai, responses, anthropic, vectors]
const model = (id: string) => ({ id, routes: [{ provider: id, model: id }] })
const words = { contextLength: 100_000, price: { input: '1', output: '2' }, maxOutputTokens: 1_000 }
const gateway = await openFor(
  requireCatalog({
    providers: {
      openai: { type: 'openai', baseUrl: openai.url },
      responses: { type: 'openai', contract: 'responses', baseUrl: responses.url },
      anthropic: { type: 'anthropic', baseUrl: anthropic.url },
      vectors: { type: 'openai', baseUrl: vectors.url },
    },
    models: [
      ...['openai', 'responses', 'anthropic'].map((id) => ({ ...words, ...model(id) })),
      { ...model('vectors'), kind: 'embedding', contextLength: 8_192, dimensions: 4, price: { input: '1' } },
    ],
  }),
)
const { secret } = await gateway.issue({ scopes: SCOPES, credits: '1000', rpm: 60_000 })

async function post(path: string, body: object, headers: Record<string, string> = {}): Promise<Response> {
  const all = { 'x-api-key': secret, 'Content-Type': 'application/json', ...headers }
  return fetch(gateway.baseUrl + path, { method: 'POST', headers: all, body: JSON.stringify(body) })
}

describe.each(Object.entries(TRIES))('%s', (contract, [path, valid, refused, leftOut = []]) => {
  const models = contract === 'embeddings' ? ['vectors'] : ['openai', 'responses', 'anthropic']

  test.each(models)(
    `nothing that is billed beside its price passes through ${contract} to an upstream of %s: it is left out and reported, or a 400`,
    async (model) => {
      for (const fields of [...refused, ...leftOut]) {
        for (const { requests } of upstreams) requests.length = 0
        const answer = await post(path, { model, ...valid, ...fields })
        await answer.text()
        const isLeftOut = leftOut.includes(fields)
        expect([fields, answer.status]).toEqual([fields, isLeftOut ? 200 : 400])
        expect([fields, answer.headers.has('x-svc-dropped-fields')]).toEqual([fields, isLeftOut])
        expect(JSON.stringify(upstreams.flatMap(({ requests }) => requests.map(({ body }) => body)))).not.toMatch(
          SMUGGLED,
        )
      }
    },
  )

  test(`the request that is tried through ${contract} with more is answered without it`, async () => {
    const answer = await post(path, { model: contract === 'embeddings' ? 'vectors' : 'anthropic', ...valid })
    expect([answer.status, await answer.text()]).toEqual([200, expect.any(String)])
  })
})

const typeOf = (body: unknown) => (body as { type?: string }).type ?? 'none'

test('an Idempotency-Key that was used in one contract is refused in another, though the body is the same', async () => {
  const body = { model: 'anthropic', max_tokens: 100, ...user('Hello') }
  const retry = { 'Idempotency-Key': 'one-for-all' }
  const answers = []
  for (const path of ['/v1/messages', '/v1/chat/completions', '/v1/messages/count_tokens', '/v1/messages']) {
    const answer = await post(path, body, retry)
    answers.push([path, answer.status, answer.headers.get('x-svc-replayed'), typeOf(await answer.json())])
  }
  expect(answers).toEqual([
    ['/v1/messages', 200, null, 'message'],
    ['/v1/chat/completions', 422, null, 'none'],
    ['/v1/messages/count_tokens', 422, null, 'error'],
    ['/v1/messages', 200, 'true', 'message'],
  ])
})

test('of two keys in one request the one in Authorization pays, and a wrong one there is not made good by the other', async () => {
  const { key: other, secret: others } = await gateway.issue()
  const body = { model: 'anthropic', max_tokens: 100, ...user('Hello') }
  const paid = await post('/v1/messages', body, { Authorization: `Bearer ${others}` })
  expect([paid.status, (await gateway.readRow(paid.headers.get('x-request-id'))).keyId]).toEqual([200, other.id])
  await paid.text()
  const refused = await post('/v1/messages', body, { Authorization: 'Bearer svc_live_wrong' })
  expect([refused.status, await refused.json()]).toMatchObject([401, { error: { type: 'authentication_error' } }])
})
