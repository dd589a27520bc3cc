import { beforeAll, beforeEach, expect, test } from '@jest/globals'
import { booksBalance, HELLO, type TestGateway } from '../../support/gateway.ts'
import {
  type BedrockUpstream,
  begin,
  endBlock,
  event,
  frames,
  metadata,
  openBedrock,
  START,
  say,
  stop,
  text,
  thought,
} from './bedrock-upstream.ts'

const PROFILE = 'us.anthropic.claude-sonnet-4-20250514-v1:0'
const ARN = `arn:aws:bedrock:us-east-1:123456789012:application-inference-profile/abc123`
const PIXEL = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=='

let upstream: BedrockUpstream
let gateway: TestGateway
let secret: string
let keyId: string

beforeAll(async () => {
  const both = await openBedrock({ profile: { model: PROFILE }, arn: { model: ARN } })
  upstream = both.upstream
  gateway = both.gateway
  const issued = await gateway.issue({ rpm: 60_000 })
  secret = issued.secret
  keyId = issued.key.id
})
beforeEach(() => {
  upstream.reply = say('Hello')
  upstream.requests.length = 0
})

async function ask(body: object = {}) {
  const response = await gateway.post(secret, { ...HELLO, ...body })
  return { response, status: response.status, answer: JSON.parse(await response.text()) }
}

/** The body that reached the upstream. */
async function sent(body: object) {
  const { status, answer } = await ask(body)
  expect([status, answer.error]).toEqual([200, undefined])
  return upstream.requests[0]?.body
}

async function chunksOf(body: object = {}) {
  const response = await gateway.post(secret, { ...HELLO, stream: true, ...body })
  const lines = (await response.text()).split('\n').filter((line) => line.startsWith('data: '))
  expect(lines.pop()).toBe('data: [DONE]')
  return lines.map((line) => JSON.parse(line.slice(6)))
}

const deltasOf = (chunks: { choices: { delta: object }[] }[]) =>
  chunks.flatMap(({ choices }) => choices.map((choice) => choice.delta))

test('a Bedrock answer is streamed in the pieces in which it was sent, as they are sent', async () => {
  const rest = Promise.withResolvers<void>()
  upstream.reply = async (stream) => {
    begin(stream)
    stream.write(Buffer.concat([START, text('Grüß ')]))
    await rest.promise
    // Cut within a frame, and within a letter.
    const bytes = Buffer.concat([text('Gott 🌍'), endBlock(), stop('end_turn'), metadata()])
    for (const byte of bytes.subarray(0, 200)) stream.write(Buffer.of(byte))
    stream.end(bytes.subarray(200))
  }
  const response = await gateway.post(secret, { ...HELLO, stream: true, stream_options: { include_usage: true } })
  const reader = response.body?.pipeThrough(new TextDecoderStream()).getReader()
  let seen = ''
  while (!seen.includes('Grüß ')) seen += (await reader?.read())?.value
  rest.resolve()
  for (let next = await reader?.read(); !next?.done; next = await reader?.read()) seen += next?.value
  const chunks = seen
    .split('\n')
    .filter((line) => line.startsWith('data: {'))
    .map((line) => JSON.parse(line.slice(6)))
  expect(deltasOf(chunks)).toEqual([{ role: 'assistant', content: 'Grüß ' }, { content: 'Gott 🌍' }, {}])
  expect(chunks.at(-2).choices[0].finish_reason).toBe('stop')
  expect(chunks.at(-1).usage).toMatchObject({ prompt_tokens: 10, completion_tokens: 5, cost: 0.00002 })
})

test.each([
  ['end_turn', 'stop'],
  ['stop_sequence', 'stop'],
  ['max_tokens', 'length'],
  ['model_context_window_exceeded', 'length'],
  ['guardrail_intervened', 'content_filter'],
  ['content_filtered', 'content_filter'],
  ['something_new', 'stop'],
])('a Bedrock answer with the stop reason %s has the finish reason %s', async (stopReason, finishReason) => {
  upstream.reply = say('Hel', stopReason)
  expect((await ask()).answer.choices[0].finish_reason).toBe(finishReason)
  expect((await chunksOf()).at(-1).choices[0].finish_reason).toBe(finishReason)
})

test('a Bedrock answer that was filtered before its first word is a 200 with the finish reason content_filter', async () => {
  upstream.reply = frames(START, stop('content_filtered'), metadata({ inputTokens: 9, outputTokens: 0 }))
  const { status, answer } = await ask()
  expect(status).toBe(200)
  expect(answer.choices[0]).toMatchObject({ message: { content: null }, finish_reason: 'content_filter' })
})

test('Bedrock’s reasoning is passed on as reasoning_content, and signatures and redacted thoughts as reasoning_details', async () => {
  upstream.reply = frames(
    START,
    thought({ text: 'Hm, ' }),
    thought({ text: 'yes.' }),
    thought({ signature: 'c2lnbmF0dXJl' }),
    thought({ redactedContent: 'cmVkYWN0ZWQ=' }),
    endBlock(),
    text('Yes.', 1),
    endBlock(1),
    stop('end_turn'),
    metadata(),
  )
  const format = 'anthropic-claude-v1'
  expect((await ask()).answer.choices[0].message).toMatchObject({ reasoning_content: 'Hm, yes.', content: 'Yes.' })
  expect(deltasOf(await chunksOf())).toEqual([
    { role: 'assistant', reasoning_content: 'Hm, ' },
    { reasoning_content: 'yes.' },
    { reasoning_details: [{ type: 'reasoning.text', signature: 'c2lnbmF0dXJl', format, index: 0 }] },
    { reasoning_details: [{ type: 'reasoning.encrypted', data: 'cmVkYWN0ZWQ=', format, index: 0 }] },
    { content: 'Yes.' },
    {},
  ])
})

test('unknown events in a Bedrock answer are skipped', async () => {
  upstream.reply = frames(
    START,
    event('contentBlockDelta', { contentBlockIndex: 0, delta: { citation: { title: 'A book' } } }),
    event('contentBlockDelta', { contentBlockIndex: 0, delta: { somethingNew: { a: 1 } } }),
    event('somethingElse', { a: 1 }),
    text('Hello'),
    stop('end_turn'),
    metadata(),
  )
  expect((await ask()).answer.choices[0].message.content).toBe('Hello')
})

test('a Bedrock answer is complete with its metadata, even if the connection never ends', async () => {
  upstream.reply = (stream) => {
    begin(stream)
    stream.write(Buffer.concat([START, text('Hello'), endBlock(), stop('end_turn'), metadata()]))
    // And never ends.
  }
  expect((await ask()).answer.choices[0].message.content).toBe('Hello')
})

test('Bedrock’s cached tokens count as prompt, and those read from the cache have their own price', async () => {
  const usage = { inputTokens: 10, outputTokens: 5, cacheReadInputTokens: 20, cacheWriteInputTokens: 7 }
  upstream.reply = say('Hello', 'end_turn', { ...usage, totalTokens: 42 })
  const { response, answer } = await ask()
  // 10 × 1 + 7 × 1.25 + 20 × 0.5 + 5 × 2 credits per million
  expect(answer.usage).toEqual({
    prompt_tokens: 37,
    completion_tokens: 5,
    total_tokens: 42,
    prompt_tokens_details: { cached_tokens: 20, cache_write_tokens: 7 },
    cost: 0.00003875,
  })
  expect(await gateway.readRow(response.headers.get('x-request-id'))).toMatchObject({
    promptTokens: 37,
    cachedTokens: 20,
    completionTokens: 5,
    usageSource: 'upstream',
    cost: 38_750n,
    provider: 'bedrock',
  })
  expect(booksBalance(await gateway.readKey(keyId))).toBe(true)
})

test('Bedrock’s tokens written to a cache are told apart by their life, the unknown ones as the longer', async () => {
  const usage = { inputTokens: 10, outputTokens: 5, totalTokens: 42, cacheWriteInputTokens: 27 }
  const cacheDetails = [
    { ttl: '1h', inputTokens: 4 },
    { ttl: '5m', inputTokens: 20 },
  ]
  upstream.reply = say('Hello', 'end_turn', { ...usage, cacheDetails })
  const { response, answer } = await ask()
  expect(answer.usage.prompt_tokens_details).toEqual({
    cached_tokens: 0,
    cache_write_tokens: 27,
    cache_write_1h_tokens: 7,
  })
  expect(await gateway.readRow(response.headers.get('x-request-id'))).toMatchObject({
    promptTokens: 37,
    cacheWriteTokens: 27,
    cacheWrite1hTokens: 7,
  })
})

test.each([
  ['test-model', 'anthropic.claude-3-haiku-20240307-v1%3A0'],
  ['profile', 'us.anthropic.claude-sonnet-4-20250514-v1%3A0'],
  ['arn', 'arn%3Aaws%3Abedrock%3Aus-east-1%3A123456789012%3Aapplication-inference-profile%2Fabc123'],
])('a request for the model %s goes to its encoded Bedrock id, signed for its region', async (model, encoded) => {
  await sent({ model })
  expect(upstream.requests[0]?.path).toBe(`POST /model/${encoded}/converse-stream`)
  expect(upstream.requests[0]?.auth).toMatch(/^AWS4-HMAC-SHA256 Credential=AKIDEXAMPLE\/\d{8}\/us-east-1\/bedrock\//)
})

test('Bedrock’s tool calls are streamed in pieces and numbered from 0, whatever stood before them', async () => {
  upstream.reply = askForBoth
  const response = await gateway.post(secret, { ...HELLO, tools: TOOLS, stream: true })
  const pieces = (await response.text())
    .split('\n')
    .filter((line) => line.startsWith('data: {'))
    .flatMap((line) => JSON.parse(line.slice(6)).choices[0].delta.tool_calls ?? [])
  const begun = (index: number, id: string, name: string) => ({
    ...{ index, id, type: 'function' },
    function: { name, arguments: '' },
  })
  expect(pieces).toEqual([
    begun(0, 'tooluse_a', 'get_weather'),
    { index: 0, function: { arguments: '{"ci' } },
    { index: 0, function: { arguments: 'ty": "U' } },
    { index: 0, function: { arguments: 'lm"}' } },
    begun(1, 'tooluse_b', 'get_time'),
    { index: 1, function: { arguments: '{}' } },
  ])
})

test('a stop reason of Bedrock that is not known ends an answer like stop, is paid, and is on the row', async () => {
  upstream.reply = frames(START, ...callTool(0, 'a', 'get_time', '{"x'), stop('malformed_tool_use'), metadata())
  for (const stream of [false, true]) {
    const response = await gateway.post(secret, { ...HELLO, tools: TOOLS, stream })
    expect(response.status).toBe(200)
    expect(await response.text()).toContain('"finish_reason":"stop"')
    const row = await gateway.readRow(response.headers.get('x-request-id'))
    expect(row).toMatchObject({ outcome: 'completed', usageSource: 'upstream', stopReason: 'malformed_tool_use' })
    expect(row.cost).toBeGreaterThan(0n)
  }
})

test.each(['{"__proto__":{"a":1}}', '{"a":1e999}', '{"a":"\\ud800"}', '{"":null}'])(
  'past tool arguments such as %s reach Bedrock and do no harm',
  async (args) => {
    const [call] = CALLS
    const calls = [{ ...call, function: { name: 'get_weather', arguments: args } }]
    const messages = [...HISTORY.slice(0, 1), { role: 'assistant', content: null, tool_calls: calls }]
    const body = await sent({ tools: TOOLS, messages })
    expect(body).toHaveProperty('messages[1].content[0].toolUse.name', 'get_weather')
    expect(({} as Record<string, unknown>).a).toBeUndefined()
  },
)
