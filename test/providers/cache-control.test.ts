import { expect, test } from '@jest/globals'
import { catalogFor } from '../support/gateway.ts'
import { openFor, openUpstream } from '../support/stack.ts'
import { type Reply, say } from '../support/upstream.ts'
import { ending, saying, start, stream, textBlock } from './anthropic/anthropic-fixtures.ts'
import { openDialects } from './support/every-dialect.ts'

const PRICE = { input: '1', output: '2', cachedInput: '0.5' }
const WITH_WRITES = { price: { ...PRICE, cacheWrite: '1.25' } }
const WITHOUT_WRITES = { price: PRICE }

const HOUR = { cache_control: { type: 'ephemeral', ttl: '1h' } }
const MARK = { cache_control: { type: 'ephemeral' } }

const text = (words: string, mark: object = {}) => ({ type: 'text', text: words, ...mark })
const toolCall = (mark: object) => ({ id: 'c', type: 'function', function: { name: 'f', arguments: '{}' }, ...mark })

/** A conversation with this mark wherever one may stand. */
const marked = (mark: object) => ({
  messages: [
    { role: 'system', content: [text('Be kind.'), text('Be brief.', mark)] },
    { role: 'user', content: [text('Hello', mark), text('there')] },
    { role: 'assistant', content: null, tool_calls: [toolCall(mark)] },
    { role: 'tool', tool_call_id: 'c', content: [text('42', mark)] },
    { role: 'user', content: 'Go on.', ...mark },
  ],
  tools: [
    { type: 'function', function: { name: 'f' } },
    { type: 'function', function: { name: 'g' }, ...mark },
    { type: 'function', function: { name: 'h', ...mark } },
  ],
})

async function sentTo(provider: object, model: object, reply: Reply, request: object = marked(HOUR)) {
  const upstream = await openUpstream(reply)
  const gateway = await openFor(catalogFor(upstream.url, model, provider))
  const { status, row } = await gateway.ask(request)
  expect(status).toBe(200)
  return { body: upstream.requests[0]?.body, row }
}

test('cache_control reaches an OpenAI-compatible upstream without its ttl if cache writes have a price', async () => {
  const { body } = await sentTo({}, WITH_WRITES, say('Hello'))
  expect(body).toMatchObject(marked(MARK))
  expect(JSON.stringify(body)).not.toContain('ttl')
})

test('only cache_control is left out for an OpenAI-compatible upstream if cache writes have no price', async () => {
  const { body } = await sentTo({}, WITHOUT_WRITES, say('Hello'))
  expect(body).toMatchObject(marked({}))
  expect(JSON.stringify(body)).not.toContain('cache_control')
})

const anthropic = { type: 'anthropic' }

test('cache_control reaches Anthropic at the matching block if cache writes have a price', async () => {
  const { body } = await sentTo(anthropic, WITH_WRITES, saying('Hello'))
  expect(body).toMatchObject({
    system: [text('Be kind.'), text('Be brief.', MARK)],
    messages: [
      { role: 'user', content: [text('Hello', MARK), text('there')] },
      { role: 'assistant', content: [{ type: 'tool_use', id: 'c', name: 'f', input: {}, ...MARK }] },
      {
        role: 'user',
        content: [{ type: 'tool_result', tool_use_id: 'c', content: '42', ...MARK }, text('Go on.', MARK)],
      },
    ],
    tools: [{ name: 'f' }, { name: 'g', ...MARK }, { name: 'h', ...MARK }],
  })
  expect(JSON.stringify(body).match(/cache_control/g)).toHaveLength(7)
  expect(JSON.stringify(body)).not.toContain('ttl')
})

const HOURS = { price: { ...PRICE, cacheWrite: '1.25', cacheWrite1h: '2' } }

test.each<[string, object, bigint, number | undefined]>([
  ['for five minutes and for an hour', { ephemeral_5m_input_tokens: 15, ephemeral_1h_input_tokens: 5 }, 15n, 5],
  ['for five minutes only', { ephemeral_5m_input_tokens: 20, ephemeral_1h_input_tokens: 0 }, 20n, undefined],
  ['of an unknown life', {}, 0n, 20],
  ['of a life that is no count', { ephemeral_5m_input_tokens: -20, ephemeral_1h_input_tokens: 2 }, 0n, 20],
  ['partly of an unknown life', { ephemeral_5m_input_tokens: 12 }, 12n, 8],
])(
  'tokens written to Anthropic’s cache %s are billed so, the unknown ones as the dearest',
  async (_, lives, brief, hour) => {
    const written = { cache_creation_input_tokens: 20, cache_creation: lives }
    const counts = { input_tokens: 10, cache_read_input_tokens: 40, ...written, output_tokens: 1 }
    const reply = stream(start(counts), ...textBlock(0, 'Hi'), ...ending('end_turn', { output_tokens: 7 }))
    const { row } = await sentTo(anthropic, HOURS, reply)
    expect(row).toMatchObject({ promptTokens: 70, cacheWriteTokens: 20 })
    expect(row.cacheWrite1hTokens).toBe(hour)
    expect(row.cost).toBe(10n * 1000n + 40n * 500n + brief * 1250n + (20n - brief) * 2000n + 7n * 2000n)
  },
)

test('tokens that Anthropic counts by their life, and not in the total, are billed all the same', async () => {
  const written = { cache_creation_input_tokens: 0, cache_creation: { ephemeral_1h_input_tokens: 30 } }
  const counts = { input_tokens: 10, ...written, output_tokens: 1 }
  const reply = stream(start(counts), ...textBlock(0, 'Hi'), ...ending('end_turn', { output_tokens: 7 }))
  const { row } = await sentTo(anthropic, HOURS, reply)
  expect(row).toMatchObject({ promptTokens: 40, cacheWriteTokens: 30, cacheWrite1hTokens: 30 })
})

test('a cost that an upstream of Anthropic’s dialect states is the cost to us', async () => {
  const counts = { input_tokens: 10, output_tokens: 1 }
  const reply = stream(start(counts), ...textBlock(0, 'Hi'), ...ending('end_turn', { output_tokens: 7, cost: 0.00002 }))
  const { row } = await sentTo(anthropic, HOURS, reply)
  expect(row).toMatchObject({ upstreamCost: 20_000n, upstreamCostSource: 'provider' })
})

test('cache_control is a cache point at Bedrock if cache writes have a price', async () => {
  const { ask } = await openDialects({ model: WITH_WRITES })
  const { status, sent } = await ask('chat', 'bedrock', marked(HOUR))
  expect(status).toBe(200)
  const point = { cachePoint: { type: 'default' } }
  expect(sent).toMatchObject({
    system: [{ text: 'Be kind.' }, { text: 'Be brief.' }, point],
    messages: [
      { role: 'user', content: [{ text: 'Hello' }, point, { text: 'there' }] },
      { role: 'assistant', content: [{ toolUse: { name: 'f' } }, point] },
      { role: 'user', content: [{ toolResult: { toolUseId: 'c' } }, point, { text: 'Go on.' }, point] },
    ],
    toolConfig: { tools: [{ toolSpec: { name: 'f' } }, {}, point, { toolSpec: { name: 'h' } }, point] },
  })
})
