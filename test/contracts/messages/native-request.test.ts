import { describe, expect, test } from '@jest/globals'
import { blockDelta, ending, saying, start, stream } from '../../providers/anthropic/anthropic-fixtures.ts'
import { openDialects } from '../../providers/support/every-dialect.ts'
import { ALIAS, testSent } from '../../providers/support/sent.ts'
import { expectBooksClosed } from '../../robust/support/exchange.ts'
import { writeOn } from '../../robust/support/write-apart.ts'
import { catalogFor } from '../../support/gateway.ts'
import { openBoth, openFor, openUpstream } from '../../support/stack.ts'
import { chunk, DONE, sse } from '../../support/upstream.ts'
import { ask, HELLO, openClient } from './support/ask.ts'
import { readEvents } from './support/read-events.ts'

const PNG = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=='
const PDF = { type: 'base64', media_type: 'application/pdf', data: 'JVBERi0xLjQ=' }
const THOUGHT = { type: 'thinking', thinking: 'I look.', signature: 'EqQBCgIYAhIM' }
const WEB = { tools: [{ type: 'web_search_20250305', name: 'web_search' }] }

const user = (...content: object[]) => ({ role: 'user', content })
const assistant = (...content: object[]) => ({ role: 'assistant', content })
const text = (words: string) => ({ type: 'text', text: words })
const saysUser = (...content: object[]) => ({ messages: [user(...content)] })
const call = (id: string, args: object) => ({ type: 'tool_use', id, name: 'look', input: args })
const asItIs = (fields: object) => [fields, { anthropic: fields }] as const

const LOOP = [
  user(text('What is it?')),
  assistant(THOUGHT, { type: 'redacted_thinking', data: 'c2VjcmV0' }, call('call_1', { at: 'it' }), call('call_2', {})),
  user(
    {
      type: 'tool_result',
      tool_use_id: 'call_1',
      content: [text('A map:'), { type: 'image', source: { type: 'base64', media_type: 'image/png', data: PNG } }],
    },
    { type: 'tool_result', tool_use_id: 'call_2', content: 'No clock.', is_error: true },
    text('Go on.'),
  ),
]
const EMPTY = { type: 'object', properties: {} }
const TOOLS = { tools: [{ name: 'look', input_schema: EMPTY }] }
const chatCall = (id: string, args: string) => ({ id, type: 'function', function: { name: 'look', arguments: args } })
const bedrockCall = (toolUseId: string, input: object) => ({ toolUse: { toolUseId, name: 'look', input } })

testSent('messages', {
  'instructions as a string reach Anthropic as they are': asItIs({ system: 'Be kind.' }),
  'instructions as blocks reach Anthropic as they are': asItIs({ system: [text('Be kind.'), text('Be brief.')] }),
  'instructions in between reach Anthropic as they are': asItIs({
    messages: [...HELLO.messages, { role: 'system', content: 'Be brief.' }],
  }),
  'ways to draw the next token reach Anthropic as they are': asItIs({
    temperature: 0.3,
    top_p: 0.9,
    top_k: 40,
    stop_sequences: ['END'],
  }),
  'an image at an address reaches Anthropic as it is': asItIs(
    saysUser({ type: 'image', source: { type: 'url', url: 'https://example.com/a.png' } }),
  ),
  'a document with citations reaches Anthropic as it is': asItIs(
    saysUser({ type: 'document', source: PDF, title: 'A', citations: { enabled: true } }),
  ),
  'a search result reaches Anthropic as it is': asItIs(
    saysUser({ type: 'search_result', source: 'https://a', title: 'A', content: [text('a')] }),
  ),
  'thinking with a budget reaches Anthropic as it is': asItIs({ thinking: { type: 'enabled', budget_tokens: 80 } }),
  'a schema and an effort reach Anthropic as they are': asItIs({
    output_config: { effort: 'low', format: { type: 'json_schema', schema: {} } },
  }),
  'the list price reaches Anthropic as it is': asItIs({ service_tier: 'standard_only' }),
  'tools that the caller runs, one at a time, reach Anthropic as they are': asItIs({
    tools: [
      { type: 'bash_20250124', name: 'bash' },
      { name: 'f', input_schema: { type: 'object', properties: { cache_control: {} } }, strict: true },
      { type: 'custom', name: 'g', description: 'G', input_schema: { type: 'object' }, defer_loading: true },
    ],
    tool_choice: { type: 'any', disable_parallel_tool_use: true },
  }),
  'a user has a name at Anthropic that no other key can have': [
    { metadata: { user_id: 'u'.repeat(150) } },
    { anthropic: { metadata: { user_id: ALIAS } } },
  ],
  'thoughts that nobody signed, because another model had them, do not reach Anthropic': [
    {
      messages: [
        ...HELLO.messages,
        assistant({ ...THOUGHT, signature: '' }),
        assistant({ ...THOUGHT, signature: '' }, text('Hi')),
      ],
    },
    { anthropic: { messages: [...HELLO.messages, assistant(text('Hi'))] } },
  ],
  'a tool loop with thoughts goes back with results, errors and pictures': [
    { ...TOOLS, system: [text('Be kind.')], messages: LOOP },
    {
      anthropic: { ...TOOLS, system: [text('Be kind.')], messages: LOOP },
      chat: {
        tools: [{ type: 'function', function: { name: 'look', parameters: EMPTY } }],
        messages: [
          { role: 'system', content: 'Be kind.' },
          { role: 'user', content: 'What is it?' },
          {
            role: 'assistant',
            content: null,
            reasoning_content: 'I look.',
            tool_calls: [chatCall('call_1', '{"at":"it"}'), chatCall('call_2', '{}')],
          },
          { role: 'tool', tool_call_id: 'call_1', content: [text('A map:')] },
          { role: 'tool', tool_call_id: 'call_2', content: 'No clock.' },
          user({ type: 'image_url', image_url: { url: `data:image/png;base64,${PNG}` } }),
          { role: 'user', content: 'Go on.' },
        ],
      },
      bedrock: {
        toolConfig: { tools: [{ toolSpec: { name: 'look', inputSchema: { json: EMPTY } } }] },
        system: [{ text: 'Be kind.' }],
        messages: [
          user({ text: 'What is it?' }),
          assistant(
            { reasoningContent: { reasoningText: { text: 'I look.', signature: THOUGHT.signature } } },
            { reasoningContent: { redactedContent: 'c2VjcmV0' } },
            bedrockCall('call_1', { at: 'it' }),
            bedrockCall('call_2', {}),
          ),
          user(
            {
              toolResult: {
                toolUseId: 'call_1',
                content: [{ text: 'A map:' }, { image: { format: 'png', source: { bytes: PNG } } }],
              },
            },
            { toolResult: { toolUseId: 'call_2', content: [{ text: 'No clock.' }], status: 'error' } },
            { text: 'Go on.' },
          ),
        ],
      },
    },
  ],
  'every field is told to an upstream of OpenAI’s in its own words': [
    {
      system: 'Be kind.',
      stop_sequences: ['END'],
      metadata: { user_id: 'u'.repeat(150) },
      thinking: { type: 'adaptive' },
      output_config: { effort: 'max', format: { type: 'json_schema', schema: { type: 'object' } } },
      tools: [{ name: 'f', description: 'F', input_schema: { type: 'object' } }],
      tool_choice: { type: 'tool', name: 'f', disable_parallel_tool_use: true },
      ...saysUser(text('Hi'), { type: 'image', source: { type: 'url', url: 'https://a.example/b.png' } }),
    },
    {
      chat: {
        messages: [
          { role: 'system', content: 'Be kind.' },
          user(text('Hi'), { type: 'image_url', image_url: { url: 'https://a.example/b.png' } }),
        ],
        stop: ['END'],
        user: ALIAS,
        reasoning_effort: 'xhigh',
        response_format: {
          type: 'json_schema',
          json_schema: { name: 'answer', strict: true, schema: { type: 'object' } },
        },
        tools: [{ type: 'function', function: { name: 'f', description: 'F', parameters: { type: 'object' } } }],
        tool_choice: { type: 'function', function: { name: 'f' } },
        parallel_tool_calls: false,
      },
    },
  ],
  'thinking, effort and top_k reach Claude at Bedrock in Claude’s own words': [
    { thinking: { type: 'enabled', budget_tokens: 80 }, top_k: 5, output_config: { effort: 'low' } },
    {
      bedrock: {
        additionalModelRequestFields: {
          thinking: { type: 'enabled', budget_tokens: 80 },
          top_k: 5,
          output_config: { effort: 'low' },
        },
      },
    },
  ],
})

test.each([
  ['chat', { context_management: { edits: [{ type: 'clear_tool_uses_20250919' }] } }],
  ['anthropic', { inference_geo: 'us' }],
  ['responses', { thinking: { type: 'adaptive' } }],
  ['chat', { thinking: { type: 'adaptive' } }],
] as const)('hints that %s lacks are left out, and a header names them', async (dialect, fields) => {
  const { ask: askAt } = await openDialects()
  const { status, sent, headers } = await askAt('messages', dialect, fields)
  const [name = ''] = Object.keys(fields)
  expect([status, headers.get('x-svc-dropped-fields'), Object.keys(sent ?? {}).includes(name)]).toEqual([
    ...[200, name, false],
  ])
})

test('what may change the bill passes if the operator allows it', async () => {
  const { ask: askAt } = await openDialects({ model: { allowFields: ['tools', 'inference_geo'] } })
  for (const fields of [WEB, { inference_geo: 'us' }]) {
    expect((await askAt('messages', 'anthropic', fields)).sent).toMatchObject(fields)
  }
})

const upstream = await openUpstream(saying('Hello'))
const gateway = await openFor(catalogFor(upstream.url, {}, { type: 'anthropic' }))
const { secret } = await gateway.issue({ rpm: 60_000, credits: '1000' })

test('a file holds the whole context, and an image its tokens, as through chat completions', async () => {
  const holdOf = async (...content: object[]) => {
    const response = await ask(gateway, secret, { ...HELLO, ...saysUser(...content) })
    expect(response.status).toBe(200)
    return (await gateway.readRow(response.headers.get('x-request-id'))).hold
  }
  const image = { type: 'image', source: { type: 'url', url: 'https://example.com/a.png' } }
  expect(await holdOf({ type: 'document', source: PDF })).toBe(1_000_200_000n)
  expect(await holdOf(image)).toBeGreaterThan(50_000_000n)
  expect(await holdOf({ type: 'tool_result', tool_use_id: 'a', content: [image] })).toBeGreaterThan(50_000_000n)
  const plain = { type: 'document', source: { type: 'text', data: 'a' } }
  expect(await holdOf(plain)).toBeLessThan(1_000_000n)
  expect(await holdOf({ ...plain, citations: { enabled: true } })).toBe(1_000_200_000n)
})

test('citations of an answer reach a caller that speaks Anthropic’s words', async () => {
  const citation = { type: 'char_location', cited_text: 'a', document_index: 0, start_char_index: 0, end_char_index: 1 }
  upstream.reply = stream(
    start(),
    { type: 'content_block_start', index: 0, content_block: { type: 'text', text: '' } },
    blockDelta(0, { type: 'text_delta', text: 'It says a.' }),
    blockDelta(0, { type: 'citations_delta', citation }),
    { type: 'content_block_stop', index: 0 },
    ...ending('end_turn'),
  )
  const client = openClient(gateway, secret)
  const streamed = await client.messages.stream(HELLO).finalMessage()
  const whole = await client.messages.create(HELLO)
  for (const { content } of [streamed, whole]) {
    expect(content).toEqual([{ type: 'text', text: 'It says a.', citations: [citation] }])
  }
  upstream.reply = saying('Hello')
})

describe('an upstream of OpenAI’s', () => {
  test('an upstream’s words in parts, its call without an id and its odd fields are told as blocks', async () => {
    const { gateway: openai, upstream: other } = await openBoth()
    other.reply = sse([
      chunk({ content: [{ type: 'text', text: 'Hm.' }, { type: 'x' }, 7], reasoning: 'So.', reasoning_details: [7] }),
      chunk({ content: 7, tool_calls: [null, { index: 0, function: { name: 'f', arguments: '{}' } }] }, 'stop'),
      DONE,
    ])
    const { messages } = openClient(openai, (await openai.issue()).secret)
    for (const answer of [await messages.create(HELLO), await messages.stream(HELLO).finalMessage()]) {
      expect(answer).toMatchObject({
        content: [
          { type: 'thinking', thinking: 'So.' },
          { type: 'text', text: 'Hm.' },
          { type: 'tool_use', id: expect.stringMatching(/^toolu_[0-9A-Z]{26}_1$/), name: 'f', input: {} },
        ],
        stop_reason: 'tool_use',
      })
    }
  })

  test.each<[string, readonly string[] | 'for ever', object]>([
    [
      'goes back to a tool call that has ended',
      [
        chunk({ tool_calls: [{ index: 0, id: 'a', function: { name: 'f', arguments: '{"a' } }] }),
        chunk({ content: 'Hm.' }),
        chunk({ tool_calls: [{ index: 0, function: { arguments: '":1}' } }] }),
        chunk({}, 'tool_calls'),
      ],
      [{ type: 'error', error: { type: 'api_error' } }],
    ],
    [
      'goes on for ever',
      'for ever',
      [{ type: 'message_delta', delta: { stop_reason: 'max_tokens' } }, { type: 'message_stop' }],
    ],
  ])('a stream of an upstream that %s ends in Anthropic’s words', async (_, frames, last) => {
    const { gateway: openai, upstream: other } = await openBoth()
    function* forever() {
      for (;;) yield chunk({ content: 'lo ' })
    }
    other.reply = async (response, request) => {
      if (frames !== 'for ever') return sse(frames)(response, request)
      response.writeHead(200, { 'Content-Type': 'text/event-stream' })
      await writeOn(response, forever())
      response.end()
    }
    const { key, secret: one } = await openai.issue()
    const { events } = readEvents(await (await ask(openai, one, { ...HELLO, stream: true })).text())
    expect(events.slice(-(last as object[]).length)).toMatchObject(last)
    expect((await expectBooksClosed(openai, key.id)).cost).toBeGreaterThan(0n)
  })
})
