import { describe, expect, test } from '@jest/globals'
import { requireCatalog } from '../../layers/catalog/parse-catalog.ts'
import { type ContractName, SCOPES } from '../../layers/gateway/endpoints.ts'
import { saying } from '../providers/anthropic/anthropic-fixtures.ts'
import { saying as sayResponse } from '../providers/responses/responses-upstream.ts'
import { embed } from '../support/embeddings.ts'
import { openFor, openUpstream } from '../support/stack.ts'

// Attempts of a caller to get more than it pays for: fields of other contracts, tools and tiers that are billed beside
// the tokens, files of the operator's account. None of it may reach an upstream.

const user = (content: unknown) => ({ messages: [{ role: 'user', content }] })
const said = (part: object) => ({ input: [{ role: 'user', content: [part] }] })
const FUNCTION = { type: 'function', name: 'f' }

/** Through each contract: the valid request, and what is added to it. */
const TRIES: Readonly<Partial<Record<ContractName, readonly [path: string, valid: object, tries: readonly object[]]>>> =
  {
    messages: [
      '/v1/messages',
      { max_tokens: 100, ...user('Hello') },
      [
        { n: 128 },
        { best_of: 20 },
        { functions: [{ name: 'f' }] },
        { prediction: { type: 'content', content: 'a' } },
        { service_tier: 'priority' },
        { inference_geo: 'us' },
        { container: 'container_1' },
        { fallbacks: [{ model: 'dearer' }] },
        { models: ['dearer'] },
        { plugins: [{ id: 'web' }] },
        { modalities: ['audio'] },
        { tools: [{ type: 'Custom', name: 'web_search' }] },
        { tools: [{ type: ['custom'], name: 'web_search' }] },
        user([{ type: 'document', source: { type: 'file', file_id: 'file_1' } }]),
        user([{ type: 'image', source: { type: 'file', file_id: 'file_1' } }]),
        user([{ type: 'container_upload', file_id: 'file_1' }]),
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
        { reasoning: { effort: 'high', mode: 'pro' } },
        { plugins: [{ id: 'web' }] },
        { context_management: [{ type: 'compaction' }] },
        { include: ['everything'] },
        { tools: [{ type: 'namespace', name: 'n', tools: [{ type: 'web_search', name: 's' }] }] },
        { tools: [{ type: 'namespace', name: 'n', tools: [{ type: 'namespace', name: 'm', tools: [FUNCTION] }] }] },
        { tools: [FUNCTION], tool_choice: { type: 'web_search_preview' } },
        { tools: [FUNCTION], tool_choice: { type: 'allowed_tools', mode: 'auto', tools: [{ type: 'web_search' }] } },
        { input: [{ type: 'web_search_call', id: 'ws_1' }] },
        { input: [{ type: 'item_reference', id: 'rs_1' }] },
        said({ type: 'input_file', file_url: 'https://example.com/a.pdf' }),
        said({ type: 'input_file', file_id: 'file_1' }),
        said({ type: 'input_image', file_id: 'file_1' }),
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

/** Fields and tools that agents send by default: a request is answered without them. */
const LEFT: Readonly<Record<string, readonly (readonly [fields: object, reported: string])[]>> = {
  '/v1/chat/completions': [
    [{ web_search_options: {} }, 'web_search_options'],
    [{ service_tier: 'priority' }, 'service_tier'],
    [{ service_tier: 'flex' }, 'service_tier'],
  ],
  '/v1/messages': [
    [{ speed: 'fast' }, 'speed'],
    [{ mcp_servers: [{ type: 'url', url: 'https://example.com', name: 'x' }] }, 'mcp_servers'],
    [{ web_search_options: {} }, 'web_search_options'],
    [{ tools: [{ type: 'web_search_20250305', name: 'web_search' }] }, 'tools.web_search_20250305'],
    [{ tools: [{ type: 'web_fetch_20990101', name: 'web_fetch' }] }, 'tools.web_fetch_20990101'],
    [{ tools: [{ type: 'web_search_20250305', max_uses: 'x' }] }, 'tools.web_search_20250305'],
    [{ tools: [{ type: 'code_execution_20260521', name: 'code_execution' }] }, 'tools.code_execution_20260521'],
    [{ tools: [{ type: 'mcp_toolset', mcp_server_name: 'x' }] }, 'tools.mcp_toolset'],
    [{ tools: [{ type: 'advisor_20260301', name: 'advisor', model: 'dearer' }] }, 'tools.advisor_20260301'],
  ],
  '/v1/responses': [
    [{ service_tier: 'priority' }, 'service_tier'],
    [{ service_tier: 'ultrafast' }, 'service_tier'],
    [{ web_search_options: {} }, 'web_search_options'],
    [{ tools: [{ type: 'web_search' }] }, 'tools.web_search'],
    [{ tools: [FUNCTION, { type: 'web_search_preview_2025_03_11' }] }, 'tools.web_search_preview_2025_03_11'],
    [{ tools: [{ type: 'file_search', vector_store_ids: ['vs_1'] }] }, 'tools.file_search'],
    [{ tools: [{ type: 'code_interpreter', container: { type: 'auto' } }] }, 'tools.code_interpreter'],
    [{ tools: [{ type: 'code_interpreter', container: 'cntr_1' }] }, 'tools.code_interpreter'],
    [{ tools: [{ type: 'image_generation', frame_count: 100 }] }, 'tools.image_generation'],
    [{ tools: [{ type: 'mcp', server_label: 'x', server_url: 'https://example.com' }] }, 'tools.mcp'],
    [{ tools: [{ type: 'mcp', server_label: 'x', connector_id: 'connector_gmail' }] }, 'tools.mcp'],
    [{ tools: [{ type: 'shell', environment: { type: 'container_reference', container_id: 'c' } }] }, 'tools.shell'],
    [{ tools: [{ type: 'programmatic_tool_calling' }] }, 'tools.programmatic_tool_calling'],
  ],
}

const [openai, responses, anthropic, vectors] = [
  await openUpstream(),
  await openUpstream(sayResponse('Hello')),
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

describe.each(Object.entries(TRIES))('%s', (contract, [path, valid, tries]) => {
  const models = contract === 'embeddings' ? ['vectors'] : ['openai', 'responses', 'anthropic']

  test.each(models)(
    `nothing that is billed beside its price passes through ${contract} to an upstream of %s, and all of it is a 400`,
    async (model) => {
      for (const { requests } of upstreams) requests.length = 0
      const answers = await Promise.all(tries.map((fields) => post(path, { model, ...valid, ...fields })))
      expect(answers.map(({ status }, i) => [status, tries[i]])).toEqual(tries.map((fields) => [400, fields]))
      await Promise.all(answers.map((answer) => answer.text()))
      expect(upstreams.flatMap(({ requests }) => requests)).toEqual([])
    },
  )

  test(`the request that is tried through ${contract} with more is answered without it`, async () => {
    const answer = await post(path, { model: contract === 'embeddings' ? 'vectors' : 'anthropic', ...valid })
    expect([answer.status, await answer.text()]).toEqual([200, expect.any(String)])
  })
})

describe.each(Object.entries(LEFT))('without a price, at %s', (path, tries) => {
  const valid = path === '/v1/responses' ? { input: 'Hello' } : { max_tokens: 100, ...user('Hello') }

  test.each(tries)('%j is left out of what is sent, and reported', async (fields, reported) => {
    for (const model of ['openai', 'responses', 'anthropic']) {
      for (const { requests } of upstreams) requests.length = 0
      const answer = await post(path, { model, ...valid, ...fields })
      expect([model, answer.status, await answer.text()]).toEqual([model, 200, expect.any(String)])
      expect([model, answer.headers.get('x-svc-dropped-fields')]).toEqual([model, reported])
      const { droppedFields } = await gateway.readRow(answer.headers.get('x-request-id'))
      expect(droppedFields).toBe(reported)
      const [sent] = upstreams.flatMap(({ requests }) => requests)
      const [name = ''] = Object.keys(fields)
      const tools = path === '/v1/responses' && JSON.stringify(fields).includes('"f"') ? 1 : undefined
      const left = name === 'tools' ? (sent?.body.tools as unknown[] | undefined)?.length : sent?.body[name]
      expect([model, left]).toEqual([model, tools])
    }
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
