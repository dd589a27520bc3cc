import { expect, test } from '@jest/globals'
import { completion } from '../../sdk/support/answers.ts'
import { gather } from '../../sdk/support/gather.ts'
import { readChunks } from '../../sdk/support/read-chunks.ts'
import type { Reply } from '../../support/upstream.ts'
import {
  block,
  blockDelta,
  ending,
  MESSAGE_STOP,
  messageDelta,
  openAnthropic,
  PING,
  start,
  stream,
  textBlock,
  toolBlock,
} from './anthropic-fixtures.ts'

const { upstream, gateway } = await openAnthropic()

/** Asks once whole and once streamed, checks both against OpenAI's schema, and returns what each said and cost. */
async function askBoth(reply: Reply) {
  upstream.reply = reply
  const { text, row } = await gateway.ask()
  const { choices, usage } = completion.parse(JSON.parse(text))
  const { message: said, finish_reason } = choices[0] ?? {}
  const streamed = await gateway.ask({ stream: true, stream_options: { include_usage: true } })
  const chunks = readChunks(streamed.text, true)
  const gathered = gather(chunks, 0)
  expect(gathered).toMatchObject({ content: said?.content, finish_reason })
  expect(gathered.tool_calls).toEqual(said?.tool_calls)
  expect(chunks.at(-1)?.usage).toEqual(usage)
  expect(streamed.row.cost).toBe(row.cost)
  return { said, finish_reason, usage, row, chunks }
}

test('an Anthropic text answer is the same whole and streamed, and is billed by its usage', async () => {
  const answer = await askBoth(stream(start(), PING, ...textBlock(0, 'Hel', 'lo ☀️'), ...ending('end_turn')))
  expect(answer.said).toEqual({ role: 'assistant', content: 'Hello ☀️', refusal: null })
  expect(answer.finish_reason).toBe('stop')
  expect(answer.chunks.map(({ choices }) => choices[0]?.delta.content)).toEqual(['Hel', 'lo ☀️', undefined, undefined])
  expect(answer.row).toMatchObject({
    usageSource: 'upstream',
    promptTokens: 12,
    completionTokens: 5,
    cost: 22_000n,
    provider: 'up',
    upstreamModel: 'upstream-model',
  })
})

test.each([
  ['end_turn', 'stop'],
  ['stop_sequence', 'stop'],
  ['pause_turn', 'stop'],
  ['max_tokens', 'length'],
  ['model_context_window_exceeded', 'length'],
  ['tool_use', 'tool_calls'],
  ['refusal', 'content_filter'],
  ['something_new', 'stop'],
  ['constructor', 'stop'],
])('an Anthropic answer with the stop reason %s has the finish reason %s', async (stop, finish) => {
  const { finish_reason } = await askBoth(stream(start(), ...textBlock(0, 'Hel'), ...ending(stop)))
  expect(finish_reason).toBe(finish)
})

test('an Anthropic tool call that was cut before its arguments does not look like one without arguments', async () => {
  const { said, finish_reason } = await askBoth(
    stream(start(), ...toolBlock(0, 'toolu_1', 'get_weather'), ...ending('max_tokens')),
  )
  expect(said?.tool_calls).toEqual([
    { id: 'toolu_1', type: 'function', function: { name: 'get_weather', arguments: '' } },
  ])
  expect(finish_reason).toBe('length')
})

test('an Anthropic answer without a stop reason has the finish reason stop, or tool_calls if it calls a tool', async () => {
  const text = await askBoth(stream(start(), ...textBlock(0, 'Hi'), MESSAGE_STOP))
  expect(text).toMatchObject({ finish_reason: 'stop', row: { usageSource: 'estimate', promptTokens: 12 } })
  const call = await askBoth(stream(start(), ...toolBlock(0, 'toolu_1', 'now'), messageDelta(null), MESSAGE_STOP))
  expect(call.finish_reason).toBe('tool_calls')
})

test('unknown events and blocks in an Anthropic answer are skipped', async () => {
  const { said } = await askBoth(
    stream(
      start(),
      { type: 'news', of: 'tomorrow' },
      ...block(0, { type: 'server_tool_use', id: 'srvtoolu_1', name: 'web_search', input: {} }, [
        blockDelta(0, { type: 'input_json_delta', partial_json: '{"query"' }),
      ]),
      ...textBlock(1, 'Hi'),
      blockDelta(1, { type: 'citations_delta', citation: {} }),
      ...ending('end_turn'),
    ),
  )
  expect(said).toEqual({ role: 'assistant', content: 'Hi', refusal: null })
})

test('Anthropic’s cached tokens count as prompt, and those read from the cache have their own price', async () => {
  const usage = { input_tokens: 10, cache_read_input_tokens: 40, cache_creation_input_tokens: 20, output_tokens: 1 }
  const { row, usage: told } = await askBoth(
    stream(start(usage), ...textBlock(0, 'Hi'), ...ending('end_turn', { output_tokens: 7 })),
  )
  expect(row).toMatchObject({ promptTokens: 70, cachedTokens: 40, completionTokens: 7, usageSource: 'upstream' })
  // Writes to a cache have no price of their own in this catalog.
  expect(row.cost).toBe(10n * 1000n + 40n * 500n + 20n * 1250n + 7n * 2000n)
  expect(told).toEqual({
    prompt_tokens: 70,
    completion_tokens: 7,
    total_tokens: 77,
    prompt_tokens_details: { cached_tokens: 40, cache_write_tokens: 20 },
    cost: 0.000069,
  })
})

test('Anthropic’s thinking tokens are told', async () => {
  const counts = { output_tokens: 30, output_tokens_details: { thinking_tokens: 20 } }
  const { usage } = await askBoth(stream(start(), ...textBlock(0, '42'), ...ending('end_turn', counts)))
  expect(usage.completion_tokens_details).toEqual({ reasoning_tokens: 20 })
})

test('the last of each of Anthropic’s token counts is charged, and null changes nothing', async () => {
  const later = { input_tokens: 20, cache_read_input_tokens: null, output_tokens: 3 }
  const { row } = await askBoth(
    stream(
      start(),
      ...textBlock(0, 'Hi'),
      messageDelta(null, later),
      ...ending('end_turn', { input_tokens: null, output_tokens: 9 }),
    ),
  )
  expect(row).toMatchObject({ promptTokens: 20, cachedTokens: 0, completionTokens: 9 })
})

test('an Anthropic count of more cached tokens than were held for is charged up to the hold', async () => {
  const usage = { output_tokens: 1, cache_read_input_tokens: 1e12 }
  upstream.reply = stream(start(), ...textBlock(0, 'Hi'), ...ending('end_turn', usage))
  const { row } = await gateway.ask()
  expect(row).toMatchObject({ usageSource: 'upstream', usageCapped: true, cost: row.hold })
})

test.each([
  ['text', { input_tokens: '12' }],
  ['negative', { cache_creation_input_tokens: -3 }],
])('an Anthropic token count that is %s is replaced by an estimate, and the row is flagged', async (_, odd) => {
  const { row } = await askBoth(
    stream(start({ input_tokens: 12, ...odd }), ...textBlock(0, 'Hi'), ...ending('end_turn', { output_tokens: 1 })),
  )
  expect(row).toMatchObject({ usageSource: 'estimate', usageRejected: true, completionTokens: 1 })
})
