import { afterEach, beforeEach, describe, expect, test } from '@jest/globals'
import { KEY_DEFAULTS } from '../../layers/gateway/domain/keys/new-key.ts'
import type { Scope } from '../../layers/gateway/endpoints.ts'
import { base64Of, DIMENSIONS, embed, embeddingCatalog, vectorAt } from '../support/embeddings.ts'
import { type Asked, type AskOptions, HELLO } from '../support/gateway.ts'
import { openFor, openUpstream } from '../support/stack.ts'
import { type Reply, status } from '../support/upstream.ts'

const SCOPES: Scope[] = ['chat.completions', 'embeddings', 'models.read']
const ASK = { model: 'test-embedding', input: 'Hello' }

const first = await openUpstream()
const second = await openUpstream()
const gateway = await openFor(embeddingCatalog([first.url, second.url]))

beforeEach(() => {
  first.reply = embed()
  second.reply = embed({ usage: { prompt_tokens: 7, total_tokens: 7 } })
})

const ask = (body: object, given: AskOptions = {}, at = gateway) =>
  at.ask(body, { path: '/v1/embeddings', scopes: SCOPES, ...given })
const by = (provider: string) => ({ headers: { 'X-Svc-Route': provider } })

const vectorsOf = ({ text }: Asked) => JSON.parse(text).data.map(({ embedding }: { embedding: unknown }) => embedding)
const attemptsOf = ({ response }: Asked) => [response.status, response.headers.get('x-svc-attempts')]

describe('an answer', () => {
  test('an embedding is priced by the tokens that its upstream reports, and leaves a row like every request', async () => {
    const { response, text, row, key } = await ask({ ...ASK, user: 'u' })
    expect(JSON.parse(text)).toEqual({
      object: 'list',
      data: [{ object: 'embedding', index: 0, embedding: vectorAt(0) }],
      model: 'test-embedding',
      usage: { prompt_tokens: 10, total_tokens: 10, cost: 0.00001 },
    })
    expect(Object.fromEntries(response.headers)).toMatchObject({
      'x-svc-cost': '0.00001',
      'x-svc-provider': 'up0',
      'x-svc-attempts': 'up0=ok',
      'ratelimit-limit': expect.any(String),
    })
    expect(first.requests.at(-1)?.body).toEqual({
      model: 'upstream-model',
      input: 'Hello',
      user: expect.stringMatching(/^[\w-]{43}$/),
    })
    expect(row).toMatchObject({
      endpoint: 'embeddings',
      contract: 'embeddings',
      outcome: 'completed',
      stream: false,
      promptTokens: 10,
      completionTokens: 0,
      usageSource: 'upstream',
      cost: 10_000n,
      upstreamModel: 'upstream-model',
    })
    expect(row.hold).toBeGreaterThan(row.cost)
    expect(key).toMatchObject({ spent: 10_000n, holds: {} })
  })

  test.each([
    ['float', 'float'],
    ['float', 'base64'],
    ['base64', 'float'],
    ['base64', 'base64'],
  ] as const)('a caller that asks for %s gets it from an upstream that gives %s', async (wanted, format) => {
    first.reply = embed({ format })
    const answer = await ask({ ...ASK, input: ['a', 'b'], encoding_format: wanted })
    const vectors = [vectorAt(0), vectorAt(1)]
    expect(vectorsOf(answer)).toEqual(wanted === 'float' ? vectors : vectors.map(base64Of))
  })

  test.each([
    ['a text', 'Hello', 1],
    ['texts', ['a', 'b', 'c'], 3],
    ['token ids', [1, 2, 3], 1],
    ['lists of token ids', [[1, 2], [3]], 2],
  ])('a batch of %s has one vector for each, in order', async (_, input, count) => {
    const answer = await ask({ ...ASK, input })
    expect(vectorsOf(answer)).toEqual(Array.from({ length: count }, (_, i) => vectorAt(i)))
    expect(first.requests.at(-1)?.body.input).toEqual(input)
  })

  test('vectors are in the order of the texts, whatever the order of the upstream', async () => {
    first.reply = embed({ change: (data) => data.toReversed() })
    expect(vectorsOf(await ask({ ...ASK, input: ['a', 'b'] }))).toEqual([vectorAt(0), vectorAt(1)])
    first.reply = embed({ change: (data) => data.map(({ index: _, ...rest }: { index?: number }) => rest) })
    expect(vectorsOf(await ask({ ...ASK, input: ['a', 'b'] }))).toEqual([vectorAt(0), vectorAt(1)])
  })

  test('a number that is many times as long in JSON as in memory is passed on digit for digit', async () => {
    const vector = [0.1234567890123456, -1.2345678901234567e-101, 1e-7, 5]
    first.reply = embed({ change: (data) => data.map((one) => ({ ...one, embedding: vector })) })
    expect(vectorsOf(await ask(ASK))).toEqual([vector])
  })

  test('a repeated Idempotency-Key gets the same vectors at no cost, and not from the answer of another endpoint', async () => {
    const headers = { 'Idempotency-Key': 'once' }
    const before = first.requests.length
    const { text: once, secret } = await ask(ASK, { headers })
    const { text, response } = await ask(ASK, { headers, secret })
    expect([text, response.headers.get('x-svc-replayed'), response.headers.get('x-svc-cost')]).toEqual([
      once,
      'true',
      '0',
    ])
    expect(first.requests.length).toBe(before + 1)
    const elsewhere = await ask(ASK, { headers, secret, path: '/v1/chat/completions' })
    expect(elsewhere).toMatchObject({ status: 400, key: { spent: 10_000n } })
  })
})

describe('a bill', () => {
  const REPORTS: Record<string, [usage: unknown, expected: object]> = {
    'no usage': [null, { usageSource: 'estimate', usageRejected: false, promptTokens: 2 }],
    'no tokens': [{ prompt_tokens: 0 }, { usageSource: 'estimate', usageRejected: true, promptTokens: 2 }],
    'a negative count': [{ prompt_tokens: -5 }, { usageSource: 'estimate', usageRejected: true, promptTokens: 2 }],
    'half a token': [{ prompt_tokens: 2.5 }, { usageSource: 'estimate', usageRejected: true, promptTokens: 2 }],
    'words in place of a count': [{ prompt_tokens: 'many' }, { usageSource: 'estimate', usageRejected: true }],
    'a list in place of usage': [[1], { usageSource: 'estimate', usageRejected: false, promptTokens: 2 }],
    'a total only': [{ total_tokens: 9 }, { usageSource: 'upstream', promptTokens: 9, cost: 9_000n }],
  }

  test.each(Object.entries(REPORTS))('an upstream that reports %s is billed right', async (_, [usage, expected]) => {
    first.reply = embed({ usage })
    expect(await ask({ ...ASK, input: 'Hello there' })).toMatchObject({ status: 200, row: expected })
  })

  test('token ids that nobody counted are billed one by one', async () => {
    first.reply = embed({ usage: null })
    const ids = [1, 2, 3]
    expect((await ask({ ...ASK, input: [ids, ids.slice(1)] })).row).toMatchObject({ promptTokens: 5 })
  })

  test('an absurd count costs no more than was held', async () => {
    first.reply = embed({ usage: { prompt_tokens: 10 ** 15, total_tokens: 10 ** 15 } })
    const { row } = await ask(ASK)
    expect(row).toMatchObject({ usageCapped: true, cost: row.hold })
  })

  test('a batch holds the context of each of its texts, and no more than its bytes can be', async () => {
    const long = 'x'.repeat(20_000)
    expect((await ask({ ...ASK, input: [long, long, long] })).row.hold).toBe(3n * 8_192n * 1000n)
    expect((await ask({ ...ASK, input: ['a', 'b', 'c'] })).row.hold).toBeLessThan(200n * 1000n)
  })

  test('a caller without credits is told to send fewer or shorter texts', async () => {
    const { status: code, error } = await ask(ASK, { credits: '0' })
    expect([code, error.message]).toEqual([402, expect.stringContaining('send fewer or shorter texts')])
    const account = await gateway.openAccount({ credits: '0', hidesBalance: true })
    const { secret } = await gateway.issue({ account, scopes: SCOPES })
    expect((await ask(ASK, { secret })).error.message).toMatch(
      /^The balance of the account does not cover this request, which may cost up to \S+\. Add credits, or send fewer or shorter texts\.$/,
    )
  })
})

const cut: Reply = (response) => {
  response.writeHead(200, { 'Content-Type': 'application/json', 'Content-Length': '1000' })
  response.write('{"object":"list","data":[{"index":0,"embedding":[0.1,', () => setImmediate(() => response.destroy()))
}
const withVectors = (...vectors: unknown[]) =>
  embed({ change: () => vectors.map((embedding, index) => ({ object: 'embedding', index, embedding })) })

describe('faults', () => {
  // A route that fails twice in a row rests: one good answer wakes it.
  afterEach(async () => {
    first.reply = embed()
    await ask(ASK, by('up0'))
  })

  const FAULTS: Record<string, [reply: Reply, result: string]> = {
    'breaks off': [cut, 'reset'],
    fails: [status(500, 'broken'), 'status 500'],
    'is busy': [status(429, { error: { message: 'slow down' } }), 'status 429'],
    'refuses our credential': [status(401, { error: { message: 'no' } }), 'credential 401'],
    'answers with garbage': [status(200, 'garbage'), 'protocol'],
    'answers with half of its JSON': [status(200, '{"data":[{"index":0,"embedding":[1,2,3,4]}'), 'protocol'],
    'answers with a list': [status(200, []), 'protocol'],
    'answers with nothing': [status(200, {}), 'protocol'],
    'reports an error in place of an answer': [status(200, { error: { message: 'overloaded' } }), 'error_event'],
    'sends too few vectors': [withVectors(), 'protocol'],
    'sends too many vectors': [withVectors(vectorAt(0), vectorAt(1)), 'protocol'],
    'sends a vector that is too short': [withVectors([1, 2, 3]), 'protocol'],
    'sends a vector that is too long': [withVectors([1, 2, 3, 4, 5]), 'runaway'],
    'sends words among its numbers': [withVectors([1, 'NaN', 3, 4]), 'protocol'],
    'sends null among its numbers': [withVectors([1, null, 3, 4]), 'protocol'],
    'sends a number beyond all bounds': [status(200, '{"data":[{"index":0,"embedding":[1,1e999,3,4]}]}'), 'protocol'],
    'sends base64 of half a number': [withVectors(Buffer.alloc(DIMENSIONS * 4 - 1).toString('base64')), 'protocol'],
    'sends base64 of something that is no number': [withVectors(base64Of([1, Number.NaN, 3, 4])), 'protocol'],
    'sends a vector without end': [withVectors(Array(10_000).fill(0.5)), 'runaway'],
    'sends one place twice': [embed({ change: ([one]) => [one as object, { ...one }] }), 'protocol'],
    'names a place that is not there': [embed({ change: ([one]) => [{ ...one, index: 2 ** 40 }] }), 'protocol'],
  }

  test.each(Object.entries(FAULTS))(
    'an upstream that %s is left for another one, and is paid if it has accepted the texts',
    async (_, [reply, result]) => {
      first.reply = reply
      const answered = await ask(ASK)
      expect(attemptsOf(answered)).toEqual([200, `up0=${result}, up1=ok`])
      expect(answered.row.cost).toBe(7_000n)
      second.reply = reply
      const { status: code, row, key } = await ask(ASK, by('up1'))
      expect([code, row.outcome, key.spent]).toEqual([result === 'status 429' ? 503 : 502, 'upstream_error', row.cost])
      expect(row.cost > 0n).toBe(['reset', 'protocol', 'runaway'].includes(result))
    },
  )

  test('an upstream that keeps silent is left for another one in time', async () => {
    const patient = embeddingCatalog([first.url, second.url], {
      routes: [
        { provider: 'up0', model: 'm', firstByteTimeoutMs: 200 },
        { provider: 'up1', model: 'm', priority: 1 },
      ],
    })
    const other = await openFor(patient)
    first.reply = () => {}
    expect(attemptsOf(await ask(ASK, {}, other))).toEqual([200, 'up0=timeout, up1=ok'])
  })

  test('a request that the upstream complains of is a 400 in its words, and no other route is asked', async () => {
    first.reply = status(400, { error: { message: 'Too long.', code: 'context_length_exceeded', param: 'input' } })
    const refused = await ask(ASK)
    expect(attemptsOf(refused)).toEqual([400, 'up0=rejected 400'])
    expect(refused.error).toMatchObject({ message: 'Too long.', param: 'input' })
  })
})

describe('bad input', () => {
  const many = Array(2_049).fill('a')
  const BAD: Record<string, [body: object, param: string | null, words: string]> = {
    'no object': [[], null, 'must be a JSON object'],
    'no model': [{ input: 'a' }, 'model', 'must be the id of a model'],
    'no input': [{ model: 'test-embedding' }, 'input', 'it is missing'],
    'an empty text': [{ ...ASK, input: '' }, 'input', 'not empty'],
    'an empty list': [{ ...ASK, input: [] }, 'input', 'not be empty'],
    'an empty text in a list': [{ ...ASK, input: ['a', ''] }, 'input[1]', 'not empty'],
    'texts and numbers': [{ ...ASK, input: ['a', 1] }, 'input[1]', 'must be a string'],
    'a number and a text': [{ ...ASK, input: [1, 'a'] }, 'input[1]', 'a token id'],
    'half a token id': [{ ...ASK, input: [[1, 2.5]] }, 'input[0][1]', 'a token id'],
    'a negative token id': [{ ...ASK, input: [-1] }, 'input[0]', 'a token id'],
    'an empty list of token ids': [{ ...ASK, input: [[1], []] }, 'input[1]', 'array of token ids'],
    'lists too deep': [{ ...ASK, input: [[[1]]] }, 'input[0][0]', 'a token id'],
    'an object': [{ ...ASK, input: { text: 'a' } }, 'input', 'got an object'],
    'too many texts': [{ ...ASK, input: many }, 'input', 'at most 2048 elements'],
    'no dimensions': [{ ...ASK, dimensions: 0 }, 'dimensions', 'at least 1'],
    'dimensions in words': [{ ...ASK, dimensions: '4' }, 'dimensions', 'at least 1'],
    'more dimensions than the model has': [{ ...ASK, dimensions: 5 }, 'dimensions', 'at most 4 numbers'],
    'an unknown format': [{ ...ASK, encoding_format: 'int8' }, 'encoding_format', 'one of float, base64'],
    'a user who is a number': [{ ...ASK, user: 1 }, 'user', 'must be a string'],
    'a field that may cost extra': [{ ...ASK, plugins: [] }, 'plugins', 'operator of this gateway can allow it'],
    'a model that chats': [{ ...ASK, model: 'test-model' }, 'model', 'makes no embeddings'],
  }

  test.each(Object.entries(BAD))(
    '%s is a 400 that names the field, and asks nobody',
    async (_, [body, param, words]) => {
      const before = first.requests.length
      const { status: code, error, response } = await ask(body)
      expect([code, error.param, error.message]).toEqual([400, param, expect.stringContaining(words)])
      expect([first.requests.length, response.headers.get('x-svc-cost')]).toEqual([before, '0'])
    },
  )

  test('more numbers than one answer may have are a 400 that says how many texts fit, and ask nobody', async () => {
    const wide = await openFor(embeddingCatalog([first.url], { dimensions: 3_072 }))
    const before = first.requests.length
    const input = Array(1_025).fill('a')
    const refused = await ask({ ...ASK, input }, {}, wide)
    const message = expect.stringContaining('send at most 1024 texts at once')
    expect(refused).toMatchObject({ status: 400, error: { param: 'input', message } })
    expect(first.requests.length).toBe(before)
    expect((await ask({ ...ASK, input, dimensions: 4 }, {}, wide)).status).toBe(200)
  })

  test.each([
    ['/v1/chat/completions', { messages: HELLO.messages }],
    ['/v1/completions', { prompt: 'Hello' }],
  ])('an embedding model has no words at %s', async (path, fields) => {
    const { status: code, error } = await ask({ model: 'test-embedding', ...fields }, { path })
    expect([code, error.param, error.message]).toEqual([400, 'model', expect.stringContaining('POST /v1/embeddings')])
  })
})

test('embeddings need a scope of their own, which a new key has only if it is asked for', async () => {
  expect(KEY_DEFAULTS.scopes).not.toContain('embeddings')
  const { error } = await ask(ASK, { scopes: KEY_DEFAULTS.scopes })
  expect(error.message).toContain("needs the scope 'embeddings'")
  const { status: code, secret } = await ask(ASK, { scopes: ['embeddings'] })
  expect([code, (await gateway.ask({}, { secret })).status]).toEqual([200, 403])
})

test('GET /v1/models says of what kind a model is and which contracts it serves', async () => {
  const { secret } = await gateway.issue()
  const { data } = (await (await gateway.get(secret, '/v1/models')).json()) as { data: object[] }
  expect(data).toMatchObject([
    { id: 'test-embedding', kind: 'embedding', contracts: ['embeddings'], dimensions: 4, max_output_tokens: 0 },
    { id: 'test-model', kind: 'chat', contracts: expect.arrayContaining(['chat', 'completions']) },
  ])
})
