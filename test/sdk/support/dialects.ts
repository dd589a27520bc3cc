import { expect } from '@jest/globals'
import { ASK_FOR_BOTH_TOOLS, openAnthropic, saying, stream } from '../../providers/anthropic/anthropic-fixtures.ts'
import {
  callTool,
  endBlock,
  frames,
  inTurn as inTurnAtBedrock,
  metadata,
  openBedrock,
  START,
  say as sayAtBedrock,
  stop,
  text,
} from '../../providers/bedrock/bedrock-upstream.ts'
import {
  answering,
  call,
  message,
  openResponses,
  saying as sayingAtResponses,
} from '../../providers/responses/responses-upstream.ts'
import type { TestGateway } from '../../support/gateway.ts'
import { openBoth } from '../../support/stack.ts'
import { say } from '../../support/upstream.ts'
import { inTurn } from './in-turn.ts'
import { askForBothTools, TIME_CALL, WEATHER_CALL } from './tool-answers.ts'

export const QUESTION = 'Weather and time?'
export const ANSWER = '21 degrees at noon.'

/** A gateway whose one model first asks for both tools and then gives the answer. */
export type Served = {
  readonly gateway: TestGateway
  /** The requests that the upstream received since the loop began. */
  readonly requests: readonly { readonly body: Record<string, unknown> }[]
  beginLoop(): void
}

export type Dialect = {
  readonly provider: string
  open(): Promise<Served>
  /** The conversation in a request to the upstream. */
  conversationIn(body: Readonly<Record<string, unknown>>): unknown
  /** Both tools as they are offered, in this dialect's shape. */
  readonly offer: object
  /** The conversation as it first is and as it is when the results have come back, in this dialect's shape. */
  readonly conversations: readonly [question: object[], withResults: object[]]
  /** The costs of the two requests, in nanocredits. */
  readonly costs: readonly [bigint, bigint]
}

const CITY = { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] }
const ZONE = { type: 'object', properties: { zone: { type: 'string' } } }

const USER = { role: 'user', content: QUESTION }
const ANTHROPIC_USER = { role: 'user', content: [{ type: 'text', text: QUESTION }] }
const BEDROCK_USER = { role: 'user', content: [{ text: QUESTION }] }

/** The model asks for the time in a zone where the upstream's fixture names one. */
export const DIALECTS: Readonly<Record<string, Dialect>> = {
  openai: {
    provider: 'up',
    conversationIn: ({ messages }) => plain(messages),
    open: async () => served(await openBoth(), () => inTurn(askForBothTools, say(ANSWER))),
    offer: {
      tools: [
        { type: 'function', function: { name: 'get_weather', description: 'Weather', parameters: CITY } },
        { type: 'function', function: { name: 'get_time', description: 'Time', parameters: ZONE } },
      ],
    },
    // These are the client's own messages, each with what it adds.
    conversations: [
      [USER],
      [
        USER,
        expect.objectContaining({ role: 'assistant', tool_calls: [WEATHER_CALL, TIME_CALL] }),
        expect.objectContaining({ role: 'tool', tool_call_id: WEATHER_CALL.id, content: 'Ulm: 21 degrees' }),
        expect.objectContaining({ role: 'tool', tool_call_id: TIME_CALL.id, content: '12:00 CET' }),
      ],
    ],
    costs: [20_000n, 20_000n],
  },
  anthropic: {
    provider: 'up',
    conversationIn: ({ messages }) => messages,
    open: async () => served(await openAnthropic(), () => inTurn(stream(...ASK_FOR_BOTH_TOOLS), saying(ANSWER))),
    offer: {
      tools: [
        { name: 'get_weather', description: 'Weather', input_schema: CITY },
        { name: 'get_time', description: 'Time', input_schema: ZONE },
      ],
    },
    conversations: [
      [ANTHROPIC_USER],
      [
        ANTHROPIC_USER,
        {
          role: 'assistant',
          content: [
            { type: 'text', text: 'Let me look.' },
            { type: 'tool_use', id: 'toolu_weather', name: 'get_weather', input: { city: 'Ulm' } },
            { type: 'tool_use', id: 'toolu_time', name: 'get_time', input: {} },
          ],
        },
        {
          role: 'user',
          content: [
            { type: 'tool_result', tool_use_id: 'toolu_weather', content: 'Ulm: 21 degrees' },
            { type: 'tool_result', tool_use_id: 'toolu_time', content: '12:00 UTC' },
          ],
        },
      ],
    ],
    costs: [92_000n, 22_000n],
  },
  bedrock: {
    provider: 'bedrock',
    conversationIn: ({ messages }) => messages,
    open: async () =>
      served(await openBedrock({}, { upstreamStream: false }), () =>
        inTurnAtBedrock(askAtBedrock, sayAtBedrock(ANSWER)),
      ),
    offer: {
      toolConfig: {
        tools: [
          { toolSpec: { name: 'get_weather', description: 'Weather', inputSchema: { json: CITY } } },
          { toolSpec: { name: 'get_time', description: 'Time', inputSchema: { json: ZONE } } },
        ],
      },
    },
    conversations: [
      [BEDROCK_USER],
      [
        BEDROCK_USER,
        {
          role: 'assistant',
          content: [
            { text: 'Let me look.' },
            { toolUse: { toolUseId: 'tooluse_weather', name: 'get_weather', input: { city: 'Ulm' } } },
            { toolUse: { toolUseId: 'tooluse_time', name: 'get_time', input: {} } },
          ],
        },
        {
          role: 'user',
          content: [
            { toolResult: { toolUseId: 'tooluse_weather', content: [{ text: 'Ulm: 21 degrees' }] } },
            { toolResult: { toolUseId: 'tooluse_time', content: [{ text: '12:00 UTC' }] } },
          ],
        },
      ],
    ],
    costs: [50_000n, 20_000n],
  },
  responses: {
    provider: 'up',
    conversationIn: ({ input }) => plain(input),
    open: async () => served(await openResponses(), () => inTurn(askForBothAtResponses, sayingAtResponses(ANSWER))),
    offer: {
      tools: [
        { type: 'function', name: 'get_weather', description: 'Weather', parameters: CITY },
        { type: 'function', name: 'get_time', description: 'Time', parameters: ZONE },
      ],
    },
    conversations: [
      [expect.objectContaining(USER)],
      [
        expect.objectContaining(USER),
        expect.objectContaining({ role: 'assistant', content: 'Let me look.' }),
        expect.objectContaining({ type: 'function_call', call_id: 'call_weather', arguments: '{"city":"Ulm"}' }),
        expect.objectContaining({ type: 'function_call', call_id: 'call_time', arguments: '{}' }),
        expect.objectContaining({ call_id: 'call_weather', output: 'Ulm: 21 degrees' }),
        expect.objectContaining({ call_id: 'call_time', output: '12:00 UTC' }),
      ],
    ],
    costs: [20_000n, 20_000n],
  },
}

type Message = { readonly content?: unknown; readonly [field: string]: unknown }

/** A text alone is one, also where a client writes it as a list of one part. */
function plain(messages: unknown): unknown {
  return (messages as Message[]).map(({ content, ...rest }) => {
    const parts = Array.isArray(content) ? content : []
    return {
      ...rest,
      ...(content !== undefined && { content: parts.length === 1 ? (parts[0].text ?? content) : content }),
    }
  })
}

const askForBothAtResponses = answering([
  message('Let me look.'),
  call('call_weather', 'get_weather', '{"city":"Ulm"}'),
  call('call_time', 'get_time', '{}'),
])

const askAtBedrock = frames(
  START,
  text('Let me look.'),
  endBlock(),
  ...callTool(1, 'tooluse_weather', 'get_weather', '{"ci', 'ty": "Ulm"}'),
  ...callTool(2, 'tooluse_time', 'get_time'),
  stop('tool_use'),
  metadata({ inputTokens: 10, outputTokens: 20, totalTokens: 30 }),
)

type Both<Reply> = { gateway: TestGateway; upstream: { requests: Served['requests'][number][]; reply: Reply } }

function served<Reply>({ gateway, upstream }: Both<Reply>, loop: () => Reply): Served {
  return {
    gateway,
    requests: upstream.requests,
    beginLoop() {
      upstream.requests.length = 0
      upstream.reply = loop()
    },
  }
}
