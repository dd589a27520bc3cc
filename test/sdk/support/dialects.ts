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
const TOOLS = [
  { name: 'get_weather', description: 'Weather', parameters: CITY },
  { name: 'get_time', description: 'Time', parameters: ZONE },
]

const USER = { role: 'user', content: QUESTION }
const some = expect.objectContaining

/** The model asks for the time in a zone where the upstream's fixture names one. */
export const DIALECTS: Readonly<Record<string, Dialect>> = {
  openai: {
    provider: 'up',
    conversationIn: ({ messages }) => plain(messages),
    open: async () => served(await openBoth(), () => inTurn(askForBothTools, say(ANSWER))),
    offer: { tools: TOOLS.map((tool) => ({ type: 'function', function: tool })) },
    // These are the client's own messages, each with what it adds.
    conversations: [
      [USER],
      [
        USER,
        some({ role: 'assistant', tool_calls: [WEATHER_CALL, TIME_CALL] }),
        some({ role: 'tool', tool_call_id: WEATHER_CALL.id, content: 'Ulm: 21 degrees' }),
        some({ role: 'tool', tool_call_id: TIME_CALL.id, content: '12:00 CET' }),
      ],
    ],
    costs: [20_000n, 20_000n],
  },
  anthropic: {
    provider: 'up',
    conversationIn: ({ messages }) => messages,
    open: async () => served(await openAnthropic(), () => inTurn(stream(...ASK_FOR_BOTH_TOOLS), saying(ANSWER))),
    offer: { tools: TOOLS.map(({ parameters, ...tool }) => ({ ...tool, input_schema: parameters })) },
    conversations: inBlocks('toolu', {
      text: (words) => ({ type: 'text', text: words }),
      call: (id, name, input) => ({ type: 'tool_use', id, name, input }),
      result: (id, words) => ({ type: 'tool_result', tool_use_id: id, content: words }),
    }),
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
        tools: TOOLS.map(({ parameters, ...tool }) => ({ toolSpec: { ...tool, inputSchema: { json: parameters } } })),
      },
    },
    conversations: inBlocks('tooluse', {
      text: (words) => ({ text: words }),
      call: (toolUseId, name, input) => ({ toolUse: { toolUseId, name, input } }),
      result: (toolUseId, words) => ({ toolResult: { toolUseId, content: [{ text: words }] } }),
    }),
    costs: [50_000n, 20_000n],
  },
  responses: {
    provider: 'up',
    conversationIn: ({ input }) => plain(input),
    open: async () => served(await openResponses(), () => inTurn(askForBothAtResponses, sayingAtResponses(ANSWER))),
    offer: { tools: TOOLS.map((tool) => ({ type: 'function', ...tool })) },
    conversations: [
      [some(USER)],
      [
        some(USER),
        some({ role: 'assistant', content: 'Let me look.' }),
        some({ type: 'function_call', call_id: 'call_weather', arguments: '{"city":"Ulm"}' }),
        some({ type: 'function_call', call_id: 'call_time', arguments: '{}' }),
        some({ call_id: 'call_weather', output: 'Ulm: 21 degrees' }),
        some({ call_id: 'call_time', output: '12:00 UTC' }),
      ],
    ],
    costs: [20_000n, 20_000n],
  },
}

type Blocks = {
  text(words: string): object
  call(id: string, name: string, input: object): object
  result(id: string, words: string): object
}

/** The conversation of a dialect whose messages are lists of blocks. */
function inBlocks(prefix: string, { text, call, result }: Blocks): Dialect['conversations'] {
  const [weather, time] = [`${prefix}_weather`, `${prefix}_time`]
  const question = { role: 'user', content: [text(QUESTION)] }
  const calls = [call(weather, 'get_weather', { city: 'Ulm' }), call(time, 'get_time', {})]
  const asking = { role: 'assistant', content: [text('Let me look.'), ...calls] }
  const results = { role: 'user', content: [result(weather, 'Ulm: 21 degrees'), result(time, '12:00 UTC')] }
  return [[question], [question, asking, results]]
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
