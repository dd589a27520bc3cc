import { describe, expect, test } from '@jest/globals'
import { sealedBy } from '../../layers/gateway/wire/chat/sealed-content.ts'
import { exchange, expectBooksClosed, expectError } from '../robust/support/exchange.ts'
import { completion, response } from '../sdk/support/answers.ts'
import { gather } from '../sdk/support/gather.ts'
import { readChunks } from '../sdk/support/read-chunks.ts'
import { HELLO as CHAT, type TestGateway } from '../support/gateway.ts'
import { ask as askMessages, HELLO as MESSAGES, openClient } from './messages/support/ask.ts'
import { MESSAGE } from './messages/support/message-schema.ts'
import { readEvents } from './messages/support/read-events.ts'
import { ask as askResponses, eventsIn, HELLO as RESPONSES, requireConsistent } from './responses/ask.ts'
import { type AnswerName, STANDS } from './support/stands.ts'

/** An answer, apart from every contract. */
type Said = {
  readonly thought?: string
  /** The proofs by which a model knows its thoughts again. */
  readonly signature?: string
  readonly sealed?: string
  readonly text?: string
  readonly refusal?: string
  readonly calls?: readonly (readonly [id: string, name: string, args: string])[]
  readonly finish: 'stop' | 'tool_calls' | 'length' | 'content_filter'
  /** The fields that Messages tells otherwise. */
  readonly inMessages?: object
}

const HELLO = { text: 'Hello', finish: 'stop' } as const
const LENGTH = { text: 'Hel', finish: 'length' } as const
const THOUGHT = { thought: 'Let me see.', text: '42', finish: 'stop' } as const
const CLAUDES = { ...THOUGHT, signature: 'EqQBCgIYAhIM', sealed: 'c2VjcmV0' }
const AT_SEQUENCE = { ...HELLO, inMessages: { stop_reason: 'stop_sequence' } }
const bothCalls = (prefix: string): Said => ({
  text: 'Let me look.',
  calls: [
    [`${prefix}_weather`, 'get_weather', '{"city": "Ulm"}'],
    [`${prefix}_time`, 'get_time', '{}'],
  ],
  finish: 'tool_calls',
})

const SAID: Readonly<Record<string, Readonly<Record<Exclude<AnswerName, 'cut'>, Said>>>> = {
  openai: {
    text: HELLO,
    tools: {
      calls: [
        ['call_weather', 'get_weather', '{"city":"Ulm"}'],
        ['call_time', 'get_time', '{"zone":"CET"}'],
      ],
      finish: 'tool_calls',
    },
    thinking: THOUGHT,
    refusal: { refusal: 'I cannot.', finish: 'content_filter' },
    length: LENGTH,
    // OpenAI does not tell at which text it stopped.
    'stop sequence': HELLO,
  },
  anthropic: {
    text: HELLO,
    tools: bothCalls('toolu'),
    thinking: CLAUDES,
    refusal: {
      refusal: 'No.',
      finish: 'content_filter',
      inMessages: { content: [], stop_details: { category: 'cyber', explanation: 'No.' } },
    },
    length: LENGTH,
    'stop sequence': AT_SEQUENCE,
  },
  bedrock: {
    text: HELLO,
    tools: bothCalls('tooluse'),
    thinking: CLAUDES,
    refusal: { finish: 'content_filter' },
    length: LENGTH,
    'stop sequence': AT_SEQUENCE,
  },
  responses: {
    text: HELLO,
    tools: bothCalls('call'),
    thinking: { ...THOUGHT, thought: 'Let me \n\nsee.', sealed: sealedBy('up', 'sealed') },
    refusal: { refusal: 'I cannot.', finish: 'stop' },
    length: LENGTH,
    'stop sequence': HELLO,
  },
}

const MESSAGE_STOPS = { stop: 'end_turn', tool_calls: 'tool_use', length: 'max_tokens', content_filter: 'refusal' }
const UNFINISHED: Readonly<Record<string, string>> = { length: 'max_output_tokens', content_filter: 'content_filter' }

type Contract = {
  /** The answer as a client of this contract must read it. */
  expected(said: Said): object
  /** The answer as a client reads it, and its schema allows. */
  read(gateway: TestGateway, secret: string, stream: boolean): Promise<object>
}

const CONTRACTS: Readonly<Record<string, Contract>> = {
  chat: {
    expected: ({ thought, signature, sealed, text = null, refusal, calls, finish }) => ({
      content: text,
      finish_reason: finish,
      ...(thought && { reasoning_content: thought }),
      ...(signature && {
        reasoning_details: [
          { type: 'reasoning.text', signature, format: 'anthropic-claude-v1', index: 0 },
          { type: 'reasoning.encrypted', data: sealed, format: 'anthropic-claude-v1', index: 1 },
        ],
      }),
      ...(refusal && { refusal }),
      ...(calls && {
        tool_calls: calls.map(([id, name, args]) => ({ id, type: 'function', function: { name, arguments: args } })),
      }),
    }),
    async read(gateway, secret, stream) {
      const body = await (await gateway.post(secret, { ...CHAT, stream })).text()
      if (stream) return gather(readChunks(body, false), 0)
      const { message, finish_reason } = completion.parse(JSON.parse(body)).choices[0] ?? {}
      return { ...message, finish_reason }
    },
  },
  messages: {
    expected: ({ thought, signature = '', sealed, text, refusal, calls = [], finish, inMessages }) => ({
      content: [
        ...(thought ? [{ type: 'thinking', thinking: thought, signature }] : []),
        ...(sealed ? [{ type: 'redacted_thinking', data: sealed }] : []),
        ...[text, refusal].filter(Boolean).map((words) => ({ type: 'text', text: words, citations: null })),
        ...calls.map(([id, name, args]) => ({ type: 'tool_use', id, name, input: JSON.parse(args) })),
      ],
      stop_reason: MESSAGE_STOPS[finish],
      ...inMessages,
    }),
    async read(gateway, secret, stream) {
      const answer = await askMessages(gateway, secret, { ...MESSAGES, stream })
      if (!stream) return MESSAGE.parse(await answer.json())
      const cost = expect.stringMatching(/^x-svc-cost 0\.\d+$/)
      expect(readEvents(await answer.text()).comments).toEqual(['keep-alive', cost])
      return openClient(gateway, (await gateway.issue()).secret)
        .messages.stream(MESSAGES)
        .finalMessage()
    },
  },
  responses: {
    expected: ({ text, thought, refusal, calls = [], finish }) => ({
      status: UNFINISHED[finish] ? 'incomplete' : 'completed',
      incomplete_details: UNFINISHED[finish] ? { reason: UNFINISHED[finish] } : null,
      output: [
        ...(thought ? [{ type: 'reasoning', summary: thought.split('\n\n').map((words) => ({ text: words })) }] : []),
        ...(text ? [{ type: 'message', content: [{ type: 'output_text', text }] }] : []),
        ...(refusal ? [{ type: 'message', content: [{ type: 'refusal', refusal }] }] : []),
        ...calls.map(([call_id, name, args]) => ({ type: 'function_call', call_id, name, arguments: args })),
      ],
    }),
    async read(gateway, secret, stream) {
      const answer = await askResponses(gateway, secret, { ...RESPONSES, stream })
      if (!stream) return response.parse(await answer.json())
      const events = eventsIn(await answer.text())
      requireConsistent(events)
      const last = events.at(-1)
      return last && 'response' in last ? last.response : {}
    },
  },
}

describe.each(Object.entries(SAID))('the %s dialect', (dialect, answers) => {
  const opened = STANDS[dialect]?.()

  test.each(Object.entries(answers))(
    `an answer of the ${dialect} dialect is told in every contract, streamed and whole: %s`,
    async (name, said) => {
      const stand = await opened
      if (!stand) throw new Error(`There is no stand of ${dialect}.`)
      stand.answer(name as AnswerName)
      for (const [contract, { expected, read }] of Object.entries(CONTRACTS)) {
        for (const stream of [false, true]) {
          const { key, secret } = await stand.gateway.issue()
          const told = await read(stand.gateway, secret, stream)
          expect([contract, stream, told]).toMatchObject([contract, stream, expected(said)])
          const row = await expectBooksClosed(stand.gateway, key.id)
          expect(row).toMatchObject({ contract, outcome: 'completed', stream, usageSource: 'upstream' })
        }
      }
    },
  )

  test(`a stream of the ${dialect} dialect that is cut ends with an error in every contract, and its words are billed`, async () => {
    const stand = await opened
    if (!stand) throw new Error(`There is no stand of ${dialect}.`)
    stand.answer('cut')
    for (const contract of ['chat', 'messages', 'responses'] as const) {
      const asked = await exchange(stand.gateway, { stream: true }, contract)
      expect(asked).toMatchObject({ status: 200, text: 'Hel', done: false })
      expectError(asked, 502, 'upstream_error')
      if (contract === 'messages') readEvents(asked.body)
      if (contract === 'responses') {
        const failed = { type: 'response.failed', response: { error: { code: 'server_error' } } }
        expect(eventsIn(asked.body).at(-1)).toMatchObject(failed)
      }
      const row = await expectBooksClosed(stand.gateway, asked.key.id)
      expect(row).toMatchObject({ contract, outcome: 'upstream_error', usageSource: 'estimate' })
      expect(row.cost).toBeGreaterThan(0n)
    }
  })
})
