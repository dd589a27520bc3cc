import type Anthropic from '@anthropic-ai/sdk'
import { beforeAll, describe, expect, test } from '@jest/globals'
import { expectBooksClosed } from '../../robust/support/exchange.ts'
import { type AnswerName, PNG, STANDS, type Stand } from '../support/stands.ts'
import { ask, HELLO, openClient } from './support/ask.ts'
import { MESSAGE } from './support/message-schema.ts'
import { readEvents } from './support/read-events.ts'

const WEATHER: Anthropic.Tool = {
  name: 'get_weather',
  description: 'Weather',
  input_schema: { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] },
}
const TIME: Anthropic.Tool = { name: 'get_time', input_schema: { type: 'object', properties: {} } }

type Said = { readonly content: readonly object[]; readonly stop_reason: string; readonly [field: string]: unknown }

const text = (words: string) => ({ type: 'text', text: words, citations: null })
const call = (id: string, name: string, input: object) => ({ type: 'tool_use', id, name, input })
const SIGNED = [
  { type: 'thinking', thinking: 'Let me see.', signature: 'EqQBCgIYAhIM' },
  { type: 'redacted_thinking', data: 'c2VjcmV0' },
]

/** The answers that a caller gets, by dialect. */
const SAID: Readonly<Record<string, Readonly<Record<Exclude<AnswerName, 'cut'>, Said>>>> = {
  openai: {
    text: { content: [text('Hello')], stop_reason: 'end_turn' },
    tools: {
      content: [call('call_weather', 'get_weather', { city: 'Ulm' }), call('call_time', 'get_time', { zone: 'CET' })],
      stop_reason: 'tool_use',
    },
    // Nobody has signed these thoughts.
    thinking: {
      content: [{ type: 'thinking', thinking: 'Let me see.', signature: '' }, text('42')],
      stop_reason: 'end_turn',
    },
    refusal: { content: [text('I cannot.')], stop_reason: 'refusal' },
    length: { content: [text('Hel')], stop_reason: 'max_tokens' },
    // OpenAI does not tell at which text it stopped.
    'stop sequence': { content: [text('Hello')], stop_reason: 'end_turn' },
  },
  anthropic: {
    text: { content: [text('Hello')], stop_reason: 'end_turn' },
    tools: {
      content: [
        text('Let me look.'),
        call('toolu_weather', 'get_weather', { city: 'Ulm' }),
        call('toolu_time', 'get_time', {}),
      ],
      stop_reason: 'tool_use',
    },
    thinking: { content: [...SIGNED, text('42')], stop_reason: 'end_turn' },
    refusal: { content: [], stop_reason: 'refusal', stop_details: { category: 'cyber', explanation: 'No.' } },
    length: { content: [text('Hel')], stop_reason: 'max_tokens' },
    'stop sequence': { content: [text('Hello')], stop_reason: 'stop_sequence' },
  },
  bedrock: {
    text: { content: [text('Hello')], stop_reason: 'end_turn' },
    tools: {
      content: [
        text('Let me look.'),
        call('tooluse_weather', 'get_weather', { city: 'Ulm' }),
        call('tooluse_time', 'get_time', {}),
      ],
      stop_reason: 'tool_use',
    },
    thinking: { content: [...SIGNED, text('42')], stop_reason: 'end_turn' },
    refusal: { content: [], stop_reason: 'refusal' },
    length: { content: [text('Hel')], stop_reason: 'max_tokens' },
    'stop sequence': { content: [text('Hello')], stop_reason: 'stop_sequence' },
  },
}

describe.each(Object.keys(SAID))('the %s dialect', (dialect) => {
  let stand: Stand
  beforeAll(async () => {
    stand = await (STANDS[dialect] as () => Promise<Stand>)()
  })

  test.each(Object.entries(SAID[dialect] ?? {}))(
    `the official Anthropic SDK understands an answer of the ${dialect} dialect, streamed and whole: %s`,
    async (name, said) => {
      stand.answer(name as AnswerName)
      for (const stream of [true, false]) {
        const { key, secret } = await stand.gateway.issue()
        const client = openClient(stand.gateway, secret)
        const request = { ...HELLO, tools: [WEATHER, TIME] }
        const message = stream
          ? await client.messages.stream(request).finalMessage()
          : await client.messages.create(request)
        expect(message).toMatchObject(said)
        expect(message.content).toHaveLength(said.content.length)
        const row = await expectBooksClosed(stand.gateway, key.id)
        expect(row).toMatchObject({ endpoint: 'messages', contract: 'messages', outcome: 'completed', stream })
        expect(message.id.slice(4)).toBe(row.requestId.slice(4))
        expect(message.usage).toMatchObject({ input_tokens: row.promptTokens, output_tokens: row.completionTokens })
        expect(row.usageSource).toBe('upstream')
        // Every event and every message has the shape that Anthropic publishes.
        const answer = await ask(stand.gateway, secret, { ...request, stream })
        if (!stream) MESSAGE.parse(await answer.json())
        else {
          const cost = expect.stringMatching(/^x-svc-cost 0\.\d+$/)
          expect(readEvents(await answer.text()).comments).toEqual(['keep-alive', cost])
        }
      }
    },
  )

  test(`a stream of the ${dialect} dialect that is cut ends with an error event, and what was delivered is billed`, async () => {
    stand.answer('cut')
    const { key, secret } = await stand.gateway.issue()
    const streamed = await ask(stand.gateway, secret, { ...HELLO, stream: true })
    const { events } = readEvents(await streamed.text())
    expect(events).toContainEqual({ type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text: 'Hel' } })
    expect(events.at(-1)).toMatchObject({ type: 'error', error: { type: 'api_error' } })
    const row = await expectBooksClosed(stand.gateway, key.id)
    expect(row).toMatchObject({ outcome: 'upstream_error', usageSource: 'estimate' })
    expect(row.cost).toBeGreaterThan(0n)
  })

  test(`a tool loop with thoughts goes back to the ${dialect} dialect with results, errors and pictures`, async () => {
    stand.answer('text')
    const { secret } = await stand.gateway.issue()
    const { status } = await ask(stand.gateway, secret, {
      ...HELLO,
      system: [{ type: 'text', text: 'Be kind.' }],
      tools: [WEATHER, TIME],
      messages: LOOP,
    })
    expect(status).toBe(200)
    const { system, messages } = stand.requests[0]?.body ?? {}
    expect({ system, messages }).toEqual(LOOPS[dialect])
  })
})

const IMAGE_URL = { type: 'image_url', image_url: { url: `data:image/png;base64,${PNG}` } }

const LOOP = [
  { role: 'user', content: 'Weather and time?' },
  {
    role: 'assistant',
    content: [
      { type: 'thinking', thinking: 'I look.', signature: 'EqQBCgIYAhIM' },
      { type: 'redacted_thinking', data: 'c2VjcmV0' },
      { type: 'tool_use', id: 'call_1', name: 'get_weather', input: { city: 'Ulm' } },
      { type: 'tool_use', id: 'call_2', name: 'get_time', input: {} },
    ],
  },
  {
    role: 'user',
    content: [
      {
        type: 'tool_result',
        tool_use_id: 'call_1',
        content: [
          { type: 'text', text: 'A map:' },
          { type: 'image', source: { type: 'base64', media_type: 'image/png', data: PNG } },
        ],
      },
      { type: 'tool_result', tool_use_id: 'call_2', content: 'No clock.', is_error: true },
      { type: 'text', text: 'Go on.' },
    ],
  },
]

/** The loop as each upstream gets it. */
const LOOPS: Readonly<Record<string, object>> = {
  openai: {
    messages: [
      { role: 'system', content: 'Be kind.' },
      { role: 'user', content: 'Weather and time?' },
      {
        role: 'assistant',
        content: null,
        reasoning_content: 'I look.',
        tool_calls: [
          { id: 'call_1', type: 'function', function: { name: 'get_weather', arguments: '{"city":"Ulm"}' } },
          { id: 'call_2', type: 'function', function: { name: 'get_time', arguments: '{}' } },
        ],
      },
      { role: 'tool', tool_call_id: 'call_1', content: [{ type: 'text', text: 'A map:' }] },
      { role: 'tool', tool_call_id: 'call_2', content: 'No clock.' },
      { role: 'user', content: [IMAGE_URL] },
      { role: 'user', content: 'Go on.' },
    ],
  },
  // As it came.
  anthropic: { system: [{ type: 'text', text: 'Be kind.' }], messages: LOOP },
  bedrock: {
    system: [{ text: 'Be kind.' }],
    messages: [
      { role: 'user', content: [{ text: 'Weather and time?' }] },
      {
        role: 'assistant',
        content: [
          { reasoningContent: { reasoningText: { text: 'I look.', signature: 'EqQBCgIYAhIM' } } },
          { reasoningContent: { redactedContent: 'c2VjcmV0' } },
          { toolUse: { toolUseId: 'call_1', name: 'get_weather', input: { city: 'Ulm' } } },
          { toolUse: { toolUseId: 'call_2', name: 'get_time', input: {} } },
        ],
      },
      {
        role: 'user',
        content: [
          {
            toolResult: {
              toolUseId: 'call_1',
              content: [{ text: 'A map:' }, { image: { format: 'png', source: { bytes: PNG } } }],
            },
          },
          { toolResult: { toolUseId: 'call_2', content: [{ text: 'No clock.' }], status: 'error' } },
          { text: 'Go on.' },
        ],
      },
    ],
  },
}
