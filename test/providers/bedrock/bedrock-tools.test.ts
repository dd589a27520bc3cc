import { beforeAll, beforeEach, expect, test } from '@jest/globals'
import { HELLO, type TestGateway } from '../../support/gateway.ts'
import {
  type BedrockUpstream,
  callTool,
  endBlock,
  frames,
  metadata,
  openBedrock,
  START,
  say,
  stop,
  text,
} from './bedrock-upstream.ts'

let upstream: BedrockUpstream
let gateway: TestGateway
let secret: string

beforeAll(async () => {
  const both = await openBedrock()
  upstream = both.upstream
  gateway = both.gateway
  secret = (await gateway.issue({ rpm: 60_000 })).secret
})
beforeEach(() => {
  upstream.requests.length = 0
  upstream.reply = say('Hello')
})

const PARAMETERS = { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] }
const TOOLS = [
  { type: 'function', function: { name: 'get_weather', description: 'Weather', parameters: PARAMETERS, strict: true } },
  { type: 'function', function: { name: 'get_time', description: '' } },
]
const TOOL_SPECS = [
  { toolSpec: { name: 'get_weather', description: 'Weather', inputSchema: { json: PARAMETERS } } },
  { toolSpec: { name: 'get_time', inputSchema: { json: { type: 'object', properties: {} } } } },
]
const PIXEL = 'iVBORw0KGgo='

const askForBoth = frames(
  START,
  text('Let me look.'),
  endBlock(),
  ...callTool(1, 'tooluse_a', 'get_weather', '{"ci', 'ty": "U', 'lm"}'),
  ...callTool(2, 'tooluse_b', 'get_time'),
  stop('tool_use'),
  metadata(),
)
const CALLS = [
  { id: 'tooluse_a', type: 'function', function: { name: 'get_weather', arguments: '{"city": "Ulm"}' } },
  { id: 'tooluse_b', type: 'function', function: { name: 'get_time', arguments: '{}' } },
]
const HISTORY = [
  { role: 'user', content: 'Weather and time in Ulm?' },
  { role: 'assistant', content: 'Let me look.', tool_calls: CALLS },
  { role: 'tool', tool_call_id: 'tooluse_a', content: '21 degrees' },
  { role: 'tool', tool_call_id: 'tooluse_b', content: '' },
  { role: 'user', content: 'Go on.' },
]

async function sent(body: object) {
  const response = await gateway.post(secret, { ...HELLO, ...body })
  expect([response.status, JSON.parse(await response.text()).error]).toEqual([200, undefined])
  return upstream.requests[0]?.body
}

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

test.each([
  ['auto', undefined],
  [null, undefined],
  ['required', { any: {} }],
  [{ type: 'function', function: { name: 'get_time' } }, { tool: { name: 'get_time' } }],
])('tools with the tool choice %j reach Bedrock in its own format', async (tool_choice, toolChoice) => {
  expect((await sent({ tools: TOOLS, tool_choice, parallel_tool_calls: true }))?.toolConfig).toEqual({
    tools: TOOL_SPECS,
    ...(toolChoice && { toolChoice }),
  })
})

test('no tools reach Bedrock if the tool choice is none', async () => {
  expect(await sent({ tools: TOOLS, tool_choice: 'none' })).not.toHaveProperty('toolConfig')
})

test('past tool calls and their results reach Bedrock, the results of one turn in one message', async () => {
  expect((await sent({ tools: TOOLS, messages: HISTORY }))?.messages).toEqual([
    { role: 'user', content: [{ text: 'Weather and time in Ulm?' }] },
    {
      role: 'assistant',
      content: [
        { text: 'Let me look.' },
        { toolUse: { toolUseId: 'tooluse_a', name: 'get_weather', input: { city: 'Ulm' } } },
        { toolUse: { toolUseId: 'tooluse_b', name: 'get_time', input: {} } },
      ],
    },
    {
      role: 'user',
      content: [
        { toolResult: { toolUseId: 'tooluse_a', content: [{ text: '21 degrees' }] } },
        { toolResult: { toolUseId: 'tooluse_b', content: [{ text: '(nothing)' }] } },
        { text: 'Go on.' },
      ],
    },
  ])
})

test.each([
  ['the tool choice is none', { tools: TOOLS, tool_choice: 'none' }],
  ['no tools are defined', {}],
])('past tool calls reach Bedrock as text if %s, since it takes them only beside tools', async (_, more) => {
  const body = await sent({ ...more, messages: HISTORY })
  expect(body).not.toHaveProperty('toolConfig')
  expect(body?.messages).toEqual([
    { role: 'user', content: [{ text: 'Weather and time in Ulm?' }] },
    {
      role: 'assistant',
      content: [
        { text: 'Let me look.' },
        { text: '[Tool call tooluse_a: get_weather({"city": "Ulm"})]' },
        { text: '[Tool call tooluse_b: get_time({})]' },
      ],
    },
    {
      role: 'user',
      content: [
        { text: '[Result of tool call tooluse_a:]' },
        { text: '21 degrees' },
        { text: '[Result of tool call tooluse_b:]' },
        { text: '(nothing)' },
        { text: 'Go on.' },
      ],
    },
  ])
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

test('tool call ids of other providers are made to fit Bedrock, and tool results may hold images', async () => {
  const id = `call:${'x'.repeat(70)}.1`
  const toolUseId = `${'x'.repeat(62)}_1`
  const body = await sent({
    tools: TOOLS,
    messages: [
      { role: 'user', content: 'Look.' },
      { role: 'assistant', tool_calls: [{ id, type: 'function', function: { name: 'get_time', arguments: '' } }] },
      {
        role: 'tool',
        tool_call_id: id,
        content: [{ type: 'image_url', image_url: { url: `data:image/webp;base64,${PIXEL}` } }],
      },
    ],
  })
  expect(body?.messages).toEqual([
    { role: 'user', content: [{ text: 'Look.' }] },
    { role: 'assistant', content: [{ toolUse: { toolUseId, name: 'get_time', input: {} } }] },
    {
      role: 'user',
      content: [{ toolResult: { toolUseId, content: [{ image: { format: 'webp', source: { bytes: PIXEL } } }] } }],
    },
  ])
})
