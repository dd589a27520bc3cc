import { beforeAll, expect, test } from '@jest/globals'
import { HELLO, type TestGateway } from '../../support/gateway.ts'
import type { Upstream } from '../../support/upstream.ts'
import { KEY, openAnthropic, saying } from './anthropic-fixtures.ts'

/** A name that no other key can have. */
const ALIAS = expect.stringMatching(/^[\w-]{43}$/)

let upstream: Upstream
let gateway: TestGateway
let secret: string

beforeAll(async () => {
  const both = await openAnthropic()
  upstream = both.upstream
  gateway = both.gateway
  secret = (await gateway.issue({ rpm: 1000, credits: '1000' })).secret
})

/** The body that reached the upstream. */
async function sent(request: object): Promise<Record<string, unknown>> {
  const response = await gateway.post(secret, { ...HELLO, ...request })
  expect([response.status, await response.text()]).toEqual([200, expect.any(String)])
  return upstream.requests.at(-1)?.body ?? {}
}

async function sentMessages(...messages: object[]): Promise<unknown> {
  return (await sent({ messages })).messages
}

const user = (content: unknown) => ({ role: 'user', content })
const text = (words: string) => ({ type: 'text', text: words })
const image = (url: string) => ({ type: 'image_url', image_url: { url, detail: 'low' } })
const call = (id: string, name: string, args: string) => ({ id, type: 'function', function: { name, arguments: args } })
/** An object of this many levels. */
const nested = (levels: number) => `{"a":${'['.repeat(levels - 1)}${']'.repeat(levels - 1)}}`
const FN = { name: 'look', description: 'Looks.', parameters: { type: 'object', properties: { at: {} } } }
const TOOLS = [{ type: 'function', function: FN }]
const LOOK = { name: 'look', description: 'Looks.', input_schema: FN.parameters }

test('a request goes to Anthropic’s /messages with the key and the version, and nothing that was not asked', async () => {
  const paths: unknown[] = []
  upstream.reply = (response, request) => {
    paths.push([response.req.method, response.req.url])
    return saying('Hello')(response, request)
  }
  expect(await sent({})).toEqual({
    model: 'upstream-model',
    max_tokens: 1000,
    stream: false,
    messages: [user([text('Hello')])],
  })
  expect(paths).toEqual([['POST', '/v1/messages']])
  const headers = upstream.requests.at(-1)?.headers
  expect(headers).toMatchObject({
    'x-api-key': KEY,
    'anthropic-version': '2023-06-01',
    'content-type': 'application/json',
  })
  expect(headers).not.toHaveProperty('authorization')
})

test('a request with every supported field is translated for Anthropic, and unsupported hints are left out', async () => {
  const schema = { type: 'object', properties: { a: { type: 'integer' } }, additionalProperties: false }
  const body = await sent({
    messages: [
      { role: 'system', content: 'Be brief.' },
      { role: 'developer', content: [text('Be kind.')] },
      user('Hi'),
    ],
    max_completion_tokens: 77,
    temperature: 1.7,
    top_p: 0.9,
    stop: 'END',
    tools: [
      { type: 'function', function: { ...FN, strict: true } },
      { type: 'function', function: { name: 'now' } },
    ],
    tool_choice: 'required',
    parallel_tool_calls: false,
    response_format: { type: 'json_schema', json_schema: { name: 'a', strict: true, schema } },
    reasoning_effort: 'minimal',
    thinking: { type: 'adaptive' },
    user: 'user-7',
    n: 1,
    seed: 7,
    presence_penalty: 1,
    frequency_penalty: 0,
    logprobs: false,
    logit_bias: {},
    service_tier: 'auto',
    store: false,
    metadata: { a: 'b' },
    prompt_cache_key: 'k',
    verbosity: 'low',
    modalities: ['text'],
    stream: true,
    stream_options: { include_usage: true },
  })
  expect(body).toEqual({
    model: 'upstream-model',
    max_tokens: 77,
    stream: true,
    system: 'Be brief.\nBe kind.',
    messages: [user([text('Hi')])],
    tools: [
      { ...LOOK, strict: true },
      { name: 'now', input_schema: { type: 'object', properties: {} } },
    ],
    tool_choice: { type: 'any', disable_parallel_tool_use: true },
    thinking: { type: 'adaptive' },
    output_config: { effort: 'low', format: { type: 'json_schema', schema } },
    temperature: 1,
    top_p: 0.9,
    stop_sequences: ['END'],
    metadata: { user_id: ALIAS },
  })
})

test.each([
  ['tools', { tools: TOOLS }, { tools: [LOOK] }],
  ['the tool choice auto', { tools: TOOLS, tool_choice: 'auto' }, { tools: [LOOK], tool_choice: { type: 'auto' } }],
  [
    'the tool choice none',
    { tools: TOOLS, tool_choice: 'none', parallel_tool_calls: false },
    { tools: [LOOK], tool_choice: { type: 'none' } },
  ],
  [
    'a choice of one tool',
    { tools: TOOLS, tool_choice: { type: 'function', function: { name: 'look' } } },
    { tools: [LOOK], tool_choice: { type: 'tool', name: 'look' } },
  ],
  [
    'parallel tool calls turned off',
    { tools: TOOLS, parallel_tool_calls: false },
    { tools: [LOOK], tool_choice: { type: 'auto', disable_parallel_tool_use: true } },
  ],
  ['no tools', { tools: [], tool_choice: null, parallel_tool_calls: true }, {}],
  [
    'stop words and a temperature',
    { stop: ['a', 'b'], temperature: 0.3 },
    { stop_sequences: ['a', 'b'], temperature: 0.3 },
  ],
  ['null for optional fields', { stop: null, temperature: null, top_p: null, user: null, response_format: null }, {}],
  ['the response format text', { response_format: { type: 'text' } }, {}],
  ['the reasoning effort none', { reasoning_effort: 'none' }, { thinking: { type: 'disabled' } }],
  ['the reasoning effort xhigh', { reasoning_effort: 'xhigh' }, { output_config: { effort: 'xhigh' } }],
  ['a safety identifier', { safety_identifier: 'hash' }, { metadata: { user_id: ALIAS } }],
  ['a top_k', { top_k: 40 }, { top_k: 40 }],
  ['a negative top_k and an unknown field that is null', { top_k: -1, x_future: null }, {}],
])('a request with %s is translated for Anthropic', async (_label, asked, said) => {
  const { model: _, max_tokens: __, stream: ___, messages: ____, ...rest } = await sent(asked)
  expect(rest).toEqual(said)
})

test('past tool calls reach Anthropic as blocks, with their results together in the user’s next turn', async () => {
  const messages = await sentMessages(
    user('Weather and time?'),
    {
      role: 'assistant',
      content: '',
      tool_calls: [call('call_1', 'weather', '{"city":"Ulm"}'), call('c.2:0', 'now', '')],
    },
    { role: 'tool', tool_call_id: 'call_1', content: '21' },
    { role: 'tool', tool_call_id: 'c.2:0', content: [text('12:00'), image('https://example.test/clock.png')] },
    user('In Fahrenheit.'),
  )
  const clock = { type: 'image', source: { type: 'url', url: 'https://example.test/clock.png' } }
  expect(messages).toEqual([
    user([text('Weather and time?')]),
    {
      role: 'assistant',
      content: [
        { type: 'tool_use', id: 'call_1', name: 'weather', input: { city: 'Ulm' } },
        { type: 'tool_use', id: 'c_2e2_3a0', name: 'now', input: {} },
      ],
    },
    user([
      { type: 'tool_result', tool_use_id: 'call_1', content: '21' },
      { type: 'tool_result', tool_use_id: 'c_2e2_3a0', content: [text('12:00'), clock] },
      text('In Fahrenheit.'),
    ]),
  ])
})

test('the turns sent to Anthropic alternate and hold no blank text', async () => {
  const messages = await sentMessages(
    user('One'),
    user([text('Two'), text(' \n')]),
    { role: 'assistant', content: null, refusal: 'No.' },
    { role: 'assistant', content: [text('But'), { type: 'refusal', refusal: 'still no.' }], reasoning_content: 'x' },
    { role: 'assistant', content: '' },
    user('Three'),
  )
  expect(messages).toEqual([
    user([text('One'), text('Two')]),
    { role: 'assistant', content: [text('No.'), text('But'), text('still no.')] },
    user([text('Three')]),
  ])
})

test('thoughts that Claude signed go back to it before the words and calls that followed, and no others', async () => {
  const format = 'anthropic-claude-v1'
  const signed = (signature: string, words?: string) => ({ type: 'reasoning.text', text: words, signature, format })
  const encrypted = (data: string, of = format) => ({ type: 'reasoning.encrypted', data, format: of })
  const assistant = (content: unknown) => ({ role: 'assistant', content })
  const messages = await sentMessages(
    user('One'),
    { ...assistant('1'), reasoning_content: 'Hm.', reasoning_details: [signed('a'), encrypted('b')] },
    user('Two'),
    {
      ...assistant('2'),
      reasoning_content: 'First. Second.',
      reasoning_details: [{ ...signed('', 'Fir') }, signed('c', 'st.'), signed('d', 'Second.')],
    },
    user('Three'),
    { ...assistant('3'), reasoning_content: 'Ha.', reasoning_details: [encrypted('e', 'openai-responses-v1')] },
    user('Four'),
  )
  expect(messages).toEqual([
    user([text('One')]),
    assistant([
      { type: 'thinking', thinking: 'Hm.', signature: 'a' },
      { type: 'redacted_thinking', data: 'b' },
      text('1'),
    ]),
    user([text('Two')]),
    assistant([
      { type: 'thinking', thinking: 'First.', signature: 'c' },
      { type: 'thinking', thinking: 'Second.', signature: 'd' },
      text('2'),
    ]),
    user([text('Three')]),
    assistant([text('3')]),
    user([text('Four')]),
  ])
})

test('images reach Anthropic by address or as bytes', async () => {
  const data = (media_type: string, bytes: string) => ({
    type: 'image',
    source: { type: 'base64', media_type, data: bytes },
  })
  const messages = await sentMessages(
    user([
      text('Look:'),
      image('https://example.test/cat.png'),
      image('data:image/png;base64,iVBORw0KGgo='),
      image('data:image/jpg;base64,/9j/4AAQ'),
    ]),
  )
  expect(messages).toEqual([
    user([
      text('Look:'),
      { type: 'image', source: { type: 'url', url: 'https://example.test/cat.png' } },
      data('image/png', 'iVBORw0KGgo='),
      data('image/jpeg', '/9j/4AAQ'),
    ]),
  ])
})

test('past tool arguments of up to 64 levels reach Anthropic', async () => {
  const messages = await sentMessages(user('Hi'), { role: 'assistant', tool_calls: [call('c', 'look', nested(64))] })
  expect(messages).toHaveProperty('[1].content[0].input', JSON.parse(nested(64)))
})

test('a message of 130,000 parts reaches Anthropic whole', async () => {
  const many = Array.from({ length: 130_000 }, () => text('a'))
  const [turn] = (await sentMessages(user('a'), user(many))) as { content: unknown[] }[]
  expect(turn?.content).toHaveLength(130_001)
})
