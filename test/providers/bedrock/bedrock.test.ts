import { beforeEach, expect, test } from '@jest/globals'
import { readChunks } from '../../sdk/support/read-chunks.ts'
import { HELLO } from '../../support/gateway.ts'
import {
  begin,
  callTool,
  endBlock,
  event,
  frames,
  metadata,
  openBedrock,
  START,
  say,
  stop,
  text,
} from './bedrock-upstream.ts'

const { upstream, gateway } = await openBedrock({
  profile: { model: 'us.anthropic.claude-sonnet-4-20250514-v1:0' },
  arn: { model: 'arn:aws:bedrock:us-east-1:123456789012:application-inference-profile/abc123' },
})

beforeEach(() => {
  upstream.reply = say('Hello')
  upstream.requests.length = 0
})

async function ask(body: object = {}) {
  const asked = await gateway.ask(body)
  return { ...asked, answer: JSON.parse(asked.text) }
}

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
  const { secret } = await gateway.issue()
  const response = await gateway.post(secret, { ...HELLO, stream: true, stream_options: { include_usage: true } })
  const reader = response.body?.pipeThrough(new TextDecoderStream()).getReader()
  let seen = ''
  while (!seen.includes('Grüß ')) seen += (await reader?.read())?.value
  rest.resolve()
  for (let next = await reader?.read(); !next?.done; next = await reader?.read()) seen += next?.value
  const chunks = readChunks(seen, true)
  expect(chunks.flatMap(({ choices }) => choices.map(({ delta }) => delta))).toEqual([
    { role: 'assistant', content: 'Grüß ' },
    { content: 'Gott 🌍' },
    {},
  ])
  expect(chunks.at(-1)?.usage).toMatchObject({ prompt_tokens: 10, completion_tokens: 5, cost: 0.00002 })
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
  expect((await gateway.ask({ stream: true })).text).toContain(`"finish_reason":"${finishReason}"`)
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
  }
  expect((await ask()).answer.choices[0].message.content).toBe('Hello')
})

test('Bedrock’s cached tokens count as prompt, and those read from the cache have their own price', async () => {
  const usage = { inputTokens: 10, outputTokens: 5, cacheReadInputTokens: 20, cacheWriteInputTokens: 7 }
  upstream.reply = say('Hello', 'end_turn', { ...usage, totalTokens: 42 })
  const { answer, row } = await ask()
  // 10 × 1 + 7 × 1.25 + 20 × 0.5 + 5 × 2 credits per million
  expect(answer.usage).toEqual({
    prompt_tokens: 37,
    completion_tokens: 5,
    total_tokens: 42,
    prompt_tokens_details: { cached_tokens: 20, cache_write_tokens: 7 },
    cost: 0.00003875,
  })
  const counts = { promptTokens: 37, cachedTokens: 20, completionTokens: 5, cost: 38_750n }
  expect(row).toMatchObject({ ...counts, usageSource: 'upstream', provider: 'bedrock' })
})

test('Bedrock’s tokens written to a cache are told apart by their life, the unknown ones as the longer', async () => {
  const usage = { inputTokens: 10, outputTokens: 5, totalTokens: 42, cacheWriteInputTokens: 27 }
  const cacheDetails = [
    { ttl: '1h', inputTokens: 4 },
    { ttl: '5m', inputTokens: 20 },
  ]
  upstream.reply = say('Hello', 'end_turn', { ...usage, cacheDetails })
  const { answer, row } = await ask()
  const written = { cached_tokens: 0, cache_write_tokens: 27, cache_write_1h_tokens: 7 }
  expect(answer.usage.prompt_tokens_details).toEqual(written)
  expect(row).toMatchObject({ promptTokens: 37, cacheWriteTokens: 27, cacheWrite1hTokens: 7 })
})

test.each([
  ['test-model', 'anthropic.claude-3-haiku-20240307-v1%3A0'],
  ['profile', 'us.anthropic.claude-sonnet-4-20250514-v1%3A0'],
  ['arn', 'arn%3Aaws%3Abedrock%3Aus-east-1%3A123456789012%3Aapplication-inference-profile%2Fabc123'],
])('a request for the model %s goes to its encoded Bedrock id, signed for its region', async (model, encoded) => {
  await ask({ model })
  expect(upstream.requests[0]?.path).toBe(`POST /model/${encoded}/converse-stream`)
  expect(upstream.requests[0]?.auth).toMatch(/^AWS4-HMAC-SHA256 Credential=AKIDEXAMPLE\/\d{8}\/us-east-1\/bedrock\//)
})

const tools = [{ type: 'function', function: { name: 'look' } }]

test('a stop reason of Bedrock that is not known ends an answer like stop, is paid, and is on the row', async () => {
  upstream.reply = frames(START, ...callTool(0, 'a', 'look', '{"x'), stop('malformed_tool_use'), metadata())
  for (const stream of [false, true]) {
    const { status, text: body, row } = await gateway.ask({ tools, stream })
    expect([status, body]).toEqual([200, expect.stringContaining('"finish_reason":"stop"')])
    expect(row).toMatchObject({ outcome: 'completed', usageSource: 'upstream', stopReason: 'malformed_tool_use' })
    expect(row.cost).toBeGreaterThan(0n)
  }
})

test.each(['{"__proto__":{"a":1}}', '{"a":1e999}', '{"a":"\\ud800"}', '{"":null}'])(
  'past tool arguments such as %s reach Bedrock and do no harm',
  async (args) => {
    const tool_calls = [{ id: 'c', type: 'function', function: { name: 'look', arguments: args } }]
    const { status } = await ask({ tools, messages: [...HELLO.messages, { role: 'assistant', tool_calls }] })
    expect([status, upstream.requests[0]?.body]).toMatchObject([
      200,
      { messages: [{}, { content: [{ toolUse: { name: 'look' } }] }] },
    ])
    expect(({} as Record<string, unknown>).a).toBeUndefined()
  },
)
