import { describe, expect, test } from '@jest/globals'
import { parseChatRequest } from '../../layers/gateway/contracts/chat/chat-contract.ts'
import { readCompletionRequest } from '../../layers/gateway/contracts/completions/completion-request.ts'
import { readEmbeddingRequest } from '../../layers/gateway/contracts/embeddings/embeddings.ts'
import { readMessagesRequest } from '../../layers/gateway/contracts/messages/messages-request.ts'
import { readRequest } from '../../layers/gateway/contracts/responses/read-request.ts'
import { embed, embeddingCatalog } from '../support/embeddings.ts'
import { HELLO } from '../support/gateway.ts'
import { openFor, openUpstream } from '../support/stack.ts'
import { write } from '../support/texts.ts'
import { chunk, event, type Reply, say, sse, status } from '../support/upstream.ts'
import { expectDocumented } from './support/expect-documented.ts'
import { answerOf, checkerOf, openApi, operation } from './support/openapi.ts'

const upstream = await openUpstream()
const gateway = await openFor(embeddingCatalog([upstream.url]))
const secret = (await gateway.issue({ scopes: ['chat.completions', 'embeddings', 'models.read'], rpm: 60_000 })).secret

const post = (path: string, body: object, headers: Record<string, string> = {}) =>
  gateway.post(secret, body, headers, path)

/** Prompts and inputs of which the contracts for texts take the same ones. */
const TEXTS = {
  taken: [
    ['a', 'b'],
    [1, 2],
    [[1], [2]],
  ],
  refused: [null, [], {}, ['a', 1], [[]], [-1], Array(2_049).fill('a')],
}
const fieldsOf = (name: string, values: readonly unknown[]) => values.map((value) => ({ [name]: value }))
/** A change for each of these fields. */
const eachOf = (fields: object) => Object.entries(fields).map(([name, value]) => ({ [name]: value }))
const said = (role: string, content: unknown) => ({ messages: [{ role, content }] })
const toolOf = (type: string) => ({ tools: [{ type, name: 'tool' }] })
const TEXT_PART = [{ type: 'text', text: 'Hi' }]

type Contract = {
  readonly good: object
  readonly read: (body: { value: object; bytes: number; callerId: string }) => unknown
  readonly reply: Reply
  /** Changes of the good request, with which it is still good. */
  readonly taken: readonly object[]
  readonly refused: readonly object[]
}

const CONTRACTS: Readonly<Record<string, Contract>> = {
  '/v1/chat/completions': {
    good: HELLO,
    read: parseChatRequest,
    reply: say('Hello'),
    taken: [
      { max_tokens: null, temperature: 2, top_p: 0, n: 128, stop: ['a'], seed: -1, tools: [] },
      { messages: [{ role: 'assistant', content: null, tool_calls: [] }] },
      said('user', TEXT_PART),
    ],
    refused: [
      ...eachOf({ model: '', messages: [], max_tokens: 0, max_completion_tokens: 1.5, temperature: 2.1, n: 129 }),
      ...eachOf({ stream: 'yes', stop: 1, top_logprobs: 21, tools: ['search'], metadata: [] }),
      said('robot', 'Hi'),
      said('user', [{ text: 'Hi' }]),
    ],
  },
  '/v1/responses': {
    good: { model: 'test-model', input: 'Hello' },
    read: readRequest,
    reply: say('Hello'),
    taken: [
      { input: [{ role: 'user', content: 'Hi' }], tools: [{ type: 'function', name: 'f' }], tool_choice: 'auto' },
      { instructions: null, store: true, background: false, previous_response_id: null },
      ...['web_search', 'web_search_2025_08_26', 'image_generation', 'local_shell'].map((type) => ({
        tools: [{ type }],
      })),
    ],
    refused: [
      ...eachOf({ model: '', input: [], max_output_tokens: 0, temperature: 3, tools: [{ type: 'teleport' }] }),
      ...eachOf({ input: '', tool_choice: 'search', truncation: 'middle', background: true, conversation: 'c' }),
      ...eachOf({ previous_response_id: 'resp_1', prompt: { id: 'p' } }),
      ...[[{ id: 'rs_1' }], [{ encrypted_content: 'x' }], [{ role: 'user', content: [{ text: 'Hi' }] }]].map(
        (input) => ({ input }),
      ),
    ],
  },
  '/v1/messages': {
    good: { ...HELLO, max_tokens: 10 },
    read: readMessagesRequest,
    reply: say('Hello'),
    taken: [
      { system: null, temperature: 1, tools: [], stop_sequences: ['a'], top_k: 0 },
      said('user', TEXT_PART),
      ...['bash_20250124', 'web_search_20250305', 'code_execution'].map(toolOf),
    ],
    refused: [
      ...eachOf({ max_tokens: 0, messages: [], temperature: 2, tools: ['search'], stop_sequences: 'a' }),
      said('tool', 'Hi'),
      said('user', [{ text: 'Hi' }]),
    ],
  },
  '/v1/completions': {
    good: { model: 'test-model', prompt: 'Hello' },
    read: readCompletionRequest,
    reply: write(['1']),
    taken: [...fieldsOf('prompt', TEXTS.taken), { user: null, best_of: null }, { logprobs: 0, suffix: 'x', n: 128 }],
    refused: [
      ...fieldsOf('prompt', TEXTS.refused),
      ...eachOf({ model: '', user: 1, logprobs: 6, max_tokens: 0, n: 129, echo: 'yes' }),
    ],
  },
  '/v1/embeddings': {
    good: { model: 'test-embedding', input: 'Hello' },
    read: readEmbeddingRequest,
    reply: embed(),
    taken: [
      ...fieldsOf('input', TEXTS.taken),
      { user: null, dimensions: null },
      { encoding_format: 'base64', dimensions: 1 },
    ],
    refused: [
      ...fieldsOf('input', TEXTS.refused),
      ...eachOf({ input: '', model: '', user: 1, dimensions: 0, encoding_format: 'int8' }),
    ],
  },
}

describe.each(Object.entries(CONTRACTS))('%s', (path, { good, read, reply, taken, refused }) => {
  const documented = operation(path, 'post')
  const answer = answerOf(documented, 200)
  const checker = checkerOf(documented.requestBody?.content['application/json']?.schema ?? {})
  const isTaken = (value: object) => {
    try {
      return read({ value, bytes: 1, callerId: 'key' }) !== undefined
    } catch {
      return false
    }
  }

  test.each([
    ...[{}, ...taken].map((change) => [true, change] as const),
    ...refused.map((change) => [false, change] as const),
  ])('docs/openapi.json and the gateway agree (valid: %p) on a request with %j', (isValid, change) => {
    const request = { ...good, ...change }
    expect([checker.safeParse(request).success, isTaken(request)]).toEqual([isValid, isValid])
  })

  test('an answer is as docs/openapi.json says, whole and streamed, with its charge', async () => {
    upstream.reply = reply
    const whole = await expectDocumented(await post(path, good), answer)
    expect(whole).toMatchObject({ usage: { cost: expect.any(Number) } })
    if (path === '/v1/embeddings') return
    const events = await expectDocumented(await post(path, { ...good, stream: true }), answer)
    expect((events as unknown[]).length).toBeGreaterThan(1)
  })

  test('its errors are as docs/openapi.json says', async () => {
    upstream.reply = status(500, 'broken')
    for (const [code, change] of [
      [400, refused[0]],
      [404, { model: 'none' }],
      [502, {}],
    ] as const) {
      const response = await post(path, { ...good, ...change })
      expect(response.status).toBe(code)
      await expectDocumented(response, answerOf(documented, code))
    }
  })
})

test.each(['/v1/chat/completions', '/v1/completions'])(
  'the last event of a stream of %s with include_usage has the charge',
  async (path) => {
    const { good, reply } = CONTRACTS[path] as Contract
    upstream.reply = reply
    const asked = await post(path, { ...good, stream: true, stream_options: { include_usage: true } })
    const events = await expectDocumented(asked, answerOf(operation(path, 'post'), 200))
    const usage = expect.objectContaining({ cost: expect.any(Number) })
    expect(events).toContainEqual(expect.objectContaining({ choices: [], usage }))
  },
)

const BROKEN = [chunk({ role: 'assistant', content: 'Hel' }), event({ error: { message: 'overloaded' } })]

test.each([
  ['/v1/chat/completions', { error: expect.anything() }],
  ['/v1/responses', expect.objectContaining({ type: 'response.failed' })],
  ['/v1/messages', expect.objectContaining({ type: 'error' })],
])('a stream of %s that breaks off is as docs/openapi.json says', async (path, last) => {
  upstream.reply = sse(BROKEN)
  const streamed = await post(path, { ...CONTRACTS[path]?.good, stream: true })
  const events = (await expectDocumented(streamed, answerOf(operation(path, 'post'), 200))) as unknown[]
  expect(events.at(-1)).toEqual(last)
})

test('a chat answer whose max_tokens was lowered, one that is replayed, and a count are as docs/openapi.json says', async () => {
  upstream.reply = say('Hello')
  const chat = answerOf(operation('/v1/chat/completions', 'post'), 200)
  const lowered = await post('/v1/chat/completions', { ...HELLO, max_tokens: 32_000 })
  expect(lowered.headers.has('x-svc-lowered-max-tokens')).toBe(true)
  await expectDocumented(lowered, chat)
  const again = () => post('/v1/chat/completions', HELLO, { 'Idempotency-Key': 'a' })
  await again()
  const replayed = await again()
  expect(replayed.headers.get('x-svc-replayed')).toBe('true')
  await expectDocumented(replayed, chat)
  const count = operation('/v1/messages/count_tokens', 'post')
  await expectDocumented(await post('/v1/messages/count_tokens', HELLO), answerOf(count, 200))
})

test('an embedding model, and the rows of an embedding and of a lowered cap, are as docs/openapi.json says', async () => {
  const model = await gateway.get(secret, '/v1/models/test-embedding')
  await expectDocumented(model, answerOf(operation('/v1/models/{id}', 'get'), 200))
  for (const [path, change] of [
    ['/v1/embeddings', {}],
    ['/v1/chat/completions', { max_tokens: 32_000 }],
  ] as const) {
    const { good, reply } = CONTRACTS[path] as Contract
    upstream.reply = reply
    const id = (await post(path, { ...good, ...change })).headers.get('x-request-id')
    const row = await gateway.get(secret, `/v1/usage/${id}`)
    await expectDocumented(row, answerOf(operation('/v1/usage/{id}', 'get'), 200))
  }
})

test.each(['ChatCompletion', 'Completion', 'EmbeddingList', 'Response', 'MessagesAnswer'])(
  'the check of %s finds a charge that is missing or no number',
  (name) => {
    expect(Object.keys(openApi.components.schemas)).toContain(name)
    const checker = checkerOf({ $ref: `#/components/schemas/${name}` })
    const usages = [{ cost: 0.1 }, { prompt_tokens: 1 }, { cost: '0.1' }]
    expect(usages.map((usage) => checker.safeParse({ usage }).success)).toEqual([true, false, false])
  },
)

test.each([
  ['/v1/responses', { personality: 'kind' }],
  ['/v1/messages', toolOf('bash')],
  ['/v1/messages', toolOf('teleport')],
])('docs/openapi.json and the gateway refuse a request to %s with %j', async (path, change) => {
  const request = { ...CONTRACTS[path]?.good, ...change }
  const { schema = {} } = operation(path, 'post').requestBody?.content['application/json'] ?? {}
  expect(checkerOf(schema).safeParse(request).success).toBe(false)
  expect((await post(path, request)).status).toBe(400)
})
