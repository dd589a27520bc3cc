import { expect, test } from '@jest/globals'
import { CAP, type ChatContract, DIALECTS, type Dialect, openDialects } from './support/every-dialect.ts'

const HOUR = { cache_control: { type: 'ephemeral', ttl: '1h' } }
const PRICE = { input: '1', output: '2' }

const open = (price: object) => openDialects({ model: { price }, provider: { unknownFields: 'drop' } })
const gateways = {
  none: await open(PRICE),
  brief: await open({ ...PRICE, cacheWrite: '1.25' }),
  hour: await open({ ...PRICE, cacheWrite: '1.25', cacheWrite1h: '2' }),
}

const text = { type: 'text', text: 'Hello', ...HOUR }
const user = (...content: object[]) => ({ messages: [{ role: 'user', content }] })
const says = (message: object) => ({
  messages: [
    { role: 'user', content: 'Hello' },
    { role: 'assistant', ...message },
  ],
})
const fn = { name: 'f', arguments: '{}' }
const result = (content: unknown, mark = {}) => ({
  messages: [
    { role: 'user', content: 'Hello' },
    { role: 'assistant', content: [{ type: 'tool_use', id: 'a', name: 'f', input: {} }] },
    { role: 'user', content: [{ type: 'tool_result', tool_use_id: 'a', content, ...mark }] },
  ],
  tools: [{ name: 'f', input_schema: { type: 'object' } }],
})

const SHAPES: readonly (readonly [ChatContract, string, object])[] = [
  ['chat', 'a message', { messages: [{ role: 'user', content: 'Hello', ...HOUR }] }],
  ['chat', 'a part', user(text)],
  ['chat', 'an image', user({ type: 'image_url', image_url: { url: 'data:image/png;base64,iVBORw0KGgo=' }, ...HOUR })],
  ['chat', 'a tool', { tools: [{ type: 'function', function: { name: 'f' }, ...HOUR }] }],
  ['chat', 'the function of a tool', { tools: [{ type: 'function', function: { name: 'f', ...HOUR } }] }],
  ['chat', 'a legacy function', { functions: [{ name: 'f', ...HOUR }] }],
  ['chat', 'a legacy call', says({ content: null, function_call: { ...fn, ...HOUR } })],
  ['chat', 'a call', says({ tool_calls: [{ id: 'c', type: 'function', function: fn, ...HOUR }] })],
  [
    'chat',
    'the function of a call',
    says({ tool_calls: [{ id: 'c', type: 'function', function: { ...fn, ...HOUR } }] }),
  ],
  ['chat', 'a refusal', says({ content: [{ type: 'refusal', refusal: 'No.', ...HOUR }] })],
  ['chat', 'the request', HOUR],
  ['messages', 'the request', HOUR],
  ['messages', 'the instructions', { system: [text] }],
  ['messages', 'a block', user(text)],
  ['messages', 'a tool', { tools: [{ name: 'f', input_schema: { type: 'object' }, ...HOUR }] }],
  ['messages', 'a tool of Anthropic’s', { tools: [{ type: 'bash_20250124', name: 'bash', ...HOUR }] }],
  ['messages', 'a call', says({ content: [{ type: 'tool_use', id: 'a', name: 'f', input: {}, ...HOUR }] })],
  ['messages', 'a result', result('42', HOUR)],
  ['messages', 'a block of a result', result([text])],
  ['messages', 'a document', user({ type: 'document', source: { type: 'content', content: [text] }, ...HOUR })],
  ['messages', 'a search result', user({ type: 'search_result', source: 's', title: 't', content: [text] })],
  [
    'messages',
    'a document in a result',
    result([{ type: 'document', source: { type: 'content', content: [text] }, title: 'T' }]),
  ],
]

/** The lives of the cache marks in a request, in any dialect. */
function marksIn(value: unknown): unknown[] {
  if (typeof value !== 'object' || value === null) return []
  return Object.entries(value).flatMap(([name, field]) =>
    name === 'cache_control' || name === 'cachePoint' ? [field.ttl ?? '5m'] : marksIn(field),
  )
}

test.each(SHAPES)('%s: a mark in %s goes out only with its price, in every dialect', async (contract, _, fields) => {
  let marked = 0
  for (const dialect of DIALECTS) {
    for (const name of ['none', 'brief', 'hour'] as const) {
      const { sent, status } = await gateways[name].ask(contract, dialect, fields)
      expect([dialect, sent ? status : 200, sent || status === 400]).toEqual([dialect, 200, sent ?? true])
      const marks = marksIn(sent)
      if (name === 'none') expect([dialect, marks]).toEqual([dialect, []])
      if (name === 'brief') expect([dialect, marks.filter((life) => life !== '5m')]).toEqual([dialect, []])
      if (name === 'hour') marked += marks.filter((life) => life === '1h').length
    }
  }
  expect(marked).toBeGreaterThan(0)
})

test('a mark goes out only with its price where tokens are counted', async () => {
  const asked = { max_tokens: undefined, ...HOUR, system: [text], ...user(text) }
  for (const [name, lives] of [
    ['none', []],
    ['brief', ['5m', '5m', '5m']],
    ['hour', ['1h', '1h', '1h']],
  ] as const) {
    const { upstreams, ask } = gateways[name]
    upstreams.anthropic.reply = (response) => {
      response.writeHead(200, { 'Content-Type': 'application/json' })
      response.end('{"input_tokens":5}')
    }
    const { status, sent } = await ask('messages', 'anthropic', asked, '/v1/messages/count_tokens')
    expect([name, status, marksIn(sent)]).toEqual([name, 200, lives])
  }
})

test('the name cache_control in a schema, the parameters of a tool or its input is the caller’s own', async () => {
  const own = { type: 'object', properties: HOUR, ...HOUR }
  const tools = [{ type: 'function', function: { name: 'f', parameters: own } }]
  const response_format = { type: 'json_schema', json_schema: { name: 'a', schema: own } }
  const { sent } = await gateways.none.ask('chat', 'chat', { tools, response_format, guided_json: own, ...user(text) })
  expect(sent).toMatchObject({ tools, response_format, guided_json: own })
  expect(JSON.stringify(sent?.messages)).not.toContain('cache_control')
  const legacy = await gateways.none.ask('chat', 'chat', { functions: [{ name: 'f', parameters: own, ...HOUR }] })
  expect(legacy.sent?.functions).toEqual([{ name: 'f', parameters: own }])
  const asked = says({ content: [{ type: 'tool_use', id: 'a', name: 'f', input: HOUR }] })
  expect((await gateways.none.ask('messages', 'anthropic', asked)).sent?.messages).toEqual(asked.messages)
})

test('a mark in a field that the operator allows goes out only with its price, too', async () => {
  const tools = [{ type: 'wiki_search', ...HOUR, filters: [{ ...HOUR }] }]
  for (const dialect of ['chat', 'responses', 'anthropic'] satisfies Dialect[]) {
    const { ask } = await openDialects({ model: { allowFields: ['tools'] } })
    const { sent } = await ask(dialect === 'anthropic' ? 'messages' : 'chat', dialect, { tools, max_tokens: CAP })
    expect([dialect, sent?.tools]).toEqual([dialect, [{ type: 'wiki_search', filters: [{}] }]])
  }
})
