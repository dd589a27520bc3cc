import { expect, test } from '@jest/globals'
import { catalogFor } from '../support/gateway.ts'
import { openFor, openUpstream } from '../support/stack.ts'
import type { Reply } from '../support/upstream.ts'
import { ending, start, stream, textBlock } from './anthropic/anthropic-fixtures.ts'
import { type Dialect, openDialects } from './support/every-dialect.ts'

const PRICE = { input: '1', output: '2', cachedInput: '0.5' }

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

const point = { cachePoint: { type: 'default' } }
/** The conversation with its marks, each without its life, at the matching places. */
const AT: Partial<Record<Dialect, object>> = {
  chat: marked(MARK),
  anthropic: {
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
  },
  bedrock: {
    system: [{ text: 'Be kind.' }, { text: 'Be brief.' }, point],
    messages: [
      { role: 'user', content: [{ text: 'Hello' }, point, { text: 'there' }] },
      { role: 'assistant', content: [{ toolUse: { name: 'f' } }, point] },
      { role: 'user', content: [{ toolResult: { toolUseId: 'c' } }, point, { text: 'Go on.' }, point] },
    ],
    toolConfig: { tools: [{ toolSpec: { name: 'f' } }, {}, point, { toolSpec: { name: 'h' } }, point] },
  },
}

test.each(Object.entries(AT))('cache_control reaches %s if cache writes have a price', async (dialect, expected) => {
  const { ask } = await openDialects({ model: { price: { ...PRICE, cacheWrite: '1.25' } } })
  const { sent } = await ask('chat', dialect as Dialect, marked(HOUR))
  expect(sent).toMatchObject(expected)
  expect(JSON.stringify(sent).match(/cache_control|cachePoint/g)).toHaveLength(7)
  expect(JSON.stringify(sent)).not.toContain('ttl')
})

test('only cache_control is left out if cache writes have no price', async () => {
  const { sent } = await (await openDialects()).ask('chat', 'chat', marked(HOUR))
  expect(sent).toMatchObject(marked({}))
  expect(JSON.stringify(sent)).not.toContain('cache_control')
})

async function rowOf(reply: Reply) {
  const upstream = await openUpstream(reply)
  const price = { ...PRICE, cacheWrite: '1.25', cacheWrite1h: '2' }
  return (await (await openFor(catalogFor(upstream.url, { price }, { type: 'anthropic' }))).ask(marked(HOUR))).row
}

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
    const row = await rowOf(reply)
    expect(row).toMatchObject({ promptTokens: 70, cacheWriteTokens: 20 })
    expect(row.cacheWrite1hTokens).toBe(hour)
    expect(row.cost).toBe(10n * 1000n + 40n * 500n + brief * 1250n + (20n - brief) * 2000n + 7n * 2000n)
  },
)

test('tokens that Anthropic counts by their life, and not in the total, are billed all the same', async () => {
  const written = { cache_creation_input_tokens: 0, cache_creation: { ephemeral_1h_input_tokens: 30 } }
  const counts = { input_tokens: 10, ...written, output_tokens: 1 }
  const reply = stream(start(counts), ...textBlock(0, 'Hi'), ...ending('end_turn', { output_tokens: 7 }))
  const row = await rowOf(reply)
  expect(row).toMatchObject({ promptTokens: 40, cacheWriteTokens: 30, cacheWrite1hTokens: 30 })
})

test('a cost that an upstream of Anthropic’s dialect states is the cost to us', async () => {
  const counts = { input_tokens: 10, output_tokens: 1 }
  const reply = stream(start(counts), ...textBlock(0, 'Hi'), ...ending('end_turn', { output_tokens: 7, cost: 0.00002 }))
  const row = await rowOf(reply)
  expect(row).toMatchObject({ upstreamCost: 20_000n, upstreamCostSource: 'provider' })
})
