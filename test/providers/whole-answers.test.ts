import { beforeEach, expect, test } from '@jest/globals'
import { requireCatalog } from '../../layers/catalog/parse-catalog.ts'
import { openFor, openUpstream } from '../support/stack.ts'
import { type Reply, say, status, USAGE } from '../support/upstream.ts'
import { message } from './anthropic/anthropic-fixtures.ts'
import {
  callTool,
  endBlock,
  frames,
  metadata,
  openBedrock,
  refuse,
  START,
  stop,
  text,
  thought,
} from './bedrock/bedrock-upstream.ts'

// A caller that gets one JSON answer has no use for a stream, so the upstream is asked for one piece.

const upstream = await openUpstream()
const spare = await openUpstream()

const PRICED = {
  contextLength: 1_000_000,
  maxOutputTokens: 1000,
  price: { input: '1', output: '2', cachedInput: '0.5', cacheWrite: '1.25' },
}
const route = (provider: string, more: object = {}) => ({ provider, model: 'upstream-model', ...more })

const catalog = requireCatalog({
  providers: {
    openai: { type: 'openai', baseUrl: upstream.url },
    anthropic: { type: 'anthropic', baseUrl: upstream.url },
    streamed: { type: 'openai', baseUrl: upstream.url, upstreamStream: true },
    spare: { type: 'openai', baseUrl: spare.url },
  },
  models: [
    ...['openai', 'anthropic', 'streamed'].map((id) => ({ ...PRICED, id, routes: [route(id)] })),
    { ...PRICED, id: 'impatient', routes: [route('openai', { firstByteTimeoutMs: 60_000 })] },
    { ...PRICED, id: 'endless', maxOutputTokens: 200_000, routes: [route('openai')] },
    { ...PRICED, id: 'restless', routes: [route('openai', { idleTimeoutMs: 200 }), route('spare', { priority: 1 })] },
    { ...PRICED, id: 'two', routes: [route('openai'), route('spare', { priority: 1 })] },
  ],
})
const gateway = await openFor(catalog)
const bedrock = await openBedrock({}, { upstreamStream: false })

beforeEach(() => {
  for (const { requests } of [upstream, spare, bedrock.upstream]) requests.length = 0
})

async function ask(model: string, body: object = {}, at = model === 'bedrock' ? bedrock.gateway : gateway) {
  const asked = await at.ask({ model: model === 'bedrock' ? 'test-model' : model, ...body })
  return { ...asked, answer: JSON.parse(asked.text) }
}

const WEATHER = { type: 'function', function: { name: 'get_weather', parameters: { type: 'object', properties: {} } } }
const ALTERNATIVES = { max_tokens: 5_000, top_logprobs: 20 }
const CALL = { name: 'get_weather', arguments: '{"city":"Ulm"}' }

const SAID = {
  role: 'assistant',
  content: 'Let me look.',
  reasoning_content: 'Hm.',
  tool_calls: [{ id: 'call_1', type: 'function', function: CALL }],
}

const openaiSays: Reply = status(200, {
  choices: [{ index: 0, message: SAID, finish_reason: 'tool_calls' }],
  usage: USAGE,
})
const anthropicSays: Reply = message(
  [
    { type: 'thinking', thinking: 'Hm.', signature: 'EqQB' },
    { type: 'text', text: 'Let me look.' },
    { type: 'tool_use', id: 'call_1', name: 'get_weather', input: { city: 'Ulm' } },
  ],
  'tool_use',
)
const bedrockSays = frames(
  START,
  thought({ text: 'Hm.' }),
  endBlock(),
  text('Let me look.', 1),
  endBlock(1),
  ...callTool(2, 'call_1', 'get_weather', '{"city":"Ulm"}'),
  stop('tool_use'),
  metadata(),
)

const SIGNATURE = { type: 'reasoning.text', signature: 'EqQB', format: 'anthropic-claude-v1', index: 0 }

test.each(['openai', 'anthropic', 'bedrock'])(
  'a JSON call is asked of %s in one piece, and its text, thoughts, tool calls and counts arrive',
  async (dialect) => {
    upstream.reply = dialect === 'openai' ? openaiSays : anthropicSays
    bedrock.upstream.reply = bedrockSays
    const { status, answer, row } = await ask(dialect, { tools: [WEATHER] })
    const message = { ...SAID, refusal: null, ...(dialect === 'anthropic' && { reasoning_details: [SIGNATURE] }) }
    const choice = { index: 0, message, logprobs: null, finish_reason: 'tool_calls' }
    expect([status, answer.choices]).toEqual([200, [choice]])
    if (dialect === 'bedrock') expect(bedrock.upstream.requests[0]?.path).toMatch(/\/converse$/)
    else expect(upstream.requests[0]?.body).toMatchObject({ stream: false })
    expect(row).toMatchObject({ outcome: 'completed', usageSource: 'upstream', completionTokens: 5 })
    expect(row.cost).toBe(dialect === 'anthropic' ? 22_000n : 20_000n)
  },
)

test.each(['openai', 'anthropic', 'bedrock'])(
  'a whole answer of %s without usage is estimated, and the row says so',
  async (dialect) => {
    const silent = { id: 'x', object: 'chat.completion', choices: [{ index: 0, message: { content: 'Hello there' } }] }
    const anthropic = { type: 'message', role: 'assistant', content: [{ type: 'text', text: 'Hello there' }] }
    upstream.reply = status(200, dialect === 'openai' ? silent : { ...anthropic, stop_reason: 'end_turn' })
    bedrock.upstream.reply = frames(START, text('Hello there'), endBlock(), stop('end_turn'))
    const { status: code, row } = await ask(dialect)
    expect([code, row.usageSource, row.completionTokens]).toEqual([200, 'estimate', 2])
    expect(row.cost).toBeGreaterThan(0n)
  },
)

test('a whole answer may begin late, and is given up if it then pauses for longer than its route allows', async () => {
  upstream.reply = (response, request) => void setTimeout(() => say('Late')(response, request), 600)
  expect((await ask('restless')).answer.choices[0].message.content).toBe('Late')
  upstream.reply = (response) => {
    response.writeHead(200, { 'Content-Type': 'application/json' })
    response.write('{"choices":[')
  }
  spare.reply = say('Hello')
  const { answer, row } = await ask('restless')
  expect(answer.choices[0].message.content).toBe('Hello')
  expect(row.attempts.map(({ result }) => result)).toEqual(['timeout', 'ok'])
})

test('fields that only a whole answer carries reach the caller', async () => {
  const audio = { id: 'a', data: 'AAAA', transcript: 'Hi', expires_at: 1 }
  const annotations = [{ type: 'url_citation', url_citation: { url: 'https://example.com', title: 'T' } }]
  const said = { role: 'assistant', content: 'Hi', audio, annotations, refusal: null }
  upstream.reply = status(200, { choices: [{ index: 0, message: said, finish_reason: 'stop' }], usage: USAGE })
  expect((await ask('openai')).answer.choices[0].message).toEqual(said)
})

test.each([
  ['a catalog that says upstreamStream', 'streamed', {}],
  ['a route that waits less than five minutes for a first word', 'impatient', {}],
  ['an answer that may be longer than 16 MiB', 'endless', {}],
  ['many tokens with their log probabilities', 'endless', { max_tokens: 5_000, logprobs: true, top_logprobs: 20 }],
  ['many tokens with alternatives, even if log probabilities are not asked for', 'endless', ALTERNATIVES],
  ['many tokens of a request that names its modalities', 'endless', { max_tokens: 5_000, modalities: ['text'] }],
])('a JSON call is streamed from the upstream for %s', async (_, model, body) => {
  upstream.reply = say('Hello')
  const { status, answer } = await ask(model, body)
  expect([status, answer.choices[0].message.content]).toEqual([200, 'Hello'])
  expect(upstream.requests[0]?.body).toMatchObject({ stream: true, stream_options: { include_usage: true } })
})

test('a whole answer has no time to its first token, and one that was streamed from the upstream has', async () => {
  upstream.reply = say('Hello')
  expect((await ask('openai')).row.ttftMs).toBeUndefined()
  expect((await ask('streamed')).row.ttftMs).toEqual(expect.any(Number))
})

test('a stream is asked for as a stream, whatever JSON calls do', async () => {
  upstream.reply = say('Hello')
  await gateway.ask({ model: 'openai', stream: true })
  expect(upstream.requests[0]?.body).toMatchObject({ stream: true })
})

const cutShort: Reply = (response) => {
  response.writeHead(200, { 'Content-Type': 'application/json', 'Content-Length': '5000' })
  response.write('{"choices":[{"index":0,"message":{"content":"Hel')
  setTimeout(() => response.destroy(), 20)
}
const tooLong: Reply = (response) => {
  response.writeHead(200, { 'Content-Type': 'application/json' })
  response.write('{"choices":[{"index":0,"message":{"content":"')
  const more = () => {
    while (!response.destroyed && response.write('a'.repeat(1024 * 1024)));
  }
  response.on('drain', more)
  more()
}

test.each<[string, Reply, string]>([
  ['breaks off in the middle', cutShort, 'reset'],
  ['goes on for ever', tooLong, 'runaway'],
  ['is not JSON', status(200, '{"choices":'), 'protocol'],
  ['says nothing', status(200, { choices: [] }), 'empty'],
  ['is an error in place of an answer', status(200, { error: { message: 'x' } }), 'error_event'],
  ['is a 500', status(500, { error: { message: 'x' } }), 'status 500'],
  ['is a 429', status(429, { error: { message: 'x' } }), 'status 429'],
])('a whole answer that %s is replaced by the next route’s: one answer, one charge', async (_, reply, result) => {
  upstream.reply = reply
  spare.reply = say('Hello')
  // An instance of its own, which has no failures of the route to remember.
  const fresh = await openFor(catalog, { onSameTables: gateway })
  const { status: code, answer, row } = await ask('two', {}, fresh)
  expect([code, answer.choices[0].message.content]).toEqual([200, 'Hello'])
  expect(row.attempts.map((attempt) => attempt.result)).toEqual([result, 'ok'])
  expect(row).toMatchObject({ provider: 'spare', cost: 20_000n })
})

test('a whole answer without a choice is an empty answer if it has a usage, and no other route is asked', async () => {
  upstream.reply = status(200, { choices: [], usage: USAGE })
  const { status: code, answer, row } = await ask('two')
  expect([code, answer.choices]).toMatchObject([200, [{ message: { content: null }, finish_reason: 'stop' }]])
  expect(row).toMatchObject({ outcome: 'completed', cost: 20_000n, attempts: [{ result: 'ok' }] })
})

test.each(['openai', 'anthropic'])(
  'a whole answer of %s that breaks off is a 502, and costs its prompt',
  async (dialect) => {
    upstream.reply = cutShort
    const { status: code, row } = await ask(dialect)
    expect([code, row.cost, row.outcome]).toEqual([502, 10_000n, 'upstream_error'])
  },
)

test('Bedrock’s refusals of a whole answer are told apart as those of a stream', async () => {
  bedrock.upstream.reply = refuse(
    400,
    'ValidationException',
    'The maximum tokens you requested exceeds the model limit.',
  )
  expect(await ask('bedrock')).toMatchObject({ status: 400, row: { outcome: 'refused', cost: 0n } })
  bedrock.upstream.reply = refuse(429, 'ThrottlingException')
  expect(await ask('bedrock')).toMatchObject({ status: 503, row: { outcome: 'upstream_error', cost: 0n } })
})
