import { beforeAll, expect, test } from '@jest/globals'
import type { ChatCompletionTool } from 'openai/resources/chat/completions'
import type { TestGateway } from '../support/gateway.ts'
import { openBoth } from '../support/stack.ts'
import { say, type Upstream } from '../support/upstream.ts'
import { inTurn } from './support/in-turn.ts'
import { runTools } from './support/run-tools.ts'
import { askForBothTools, TIME_CALL, WEATHER_CALL } from './support/tool-answers.ts'
import { type Sent, watchedClient } from './support/watched-client.ts'

let upstream: Upstream
let gateway: TestGateway

beforeAll(async () => {
  ;({ upstream, gateway } = await openBoth())
})

const QUESTION = { role: 'user' as const, content: 'What is the weather in Ulm, and what time is it?' }
const TOOLS: ChatCompletionTool[] = ['get_weather', 'get_time'].map((name) => ({
  type: 'function',
  function: { name, parameters: { type: 'object', properties: {}, additionalProperties: true } },
}))
const ASK = { model: 'test-model', messages: [QUESTION], tools: TOOLS }

test('tool calls that an upstream sends in pieces come in the same pieces in a stream, for the SDK to gather', async () => {
  upstream.reply = askForBothTools
  const { client } = await openClient()
  const pieces: string[] = []
  const stream = client.chat.completions.stream(ASK)
  stream.on('tool_calls.function.arguments.delta', ({ index, arguments_delta }) => {
    pieces.push(`${index} ${arguments_delta}`)
  })
  const completion = await stream.finalChatCompletion()
  expect(completion.choices[0]?.finish_reason).toBe('tool_calls')
  expect(completion.choices[0]?.message.tool_calls).toMatchObject([WEATHER_CALL, TIME_CALL])
  expect(pieces.filter((piece) => piece.length > 2)).toEqual(['0 {"ci', '0 ty":"Ulm"}', '1 {"zo', '1 ne":"CET"}'])
})

test.each([false, true])('a tool loop of the openai SDK runs to its final answer (stream: %s)', async (stream) => {
  upstream.reply = inTurn(askForBothTools, say('21 degrees at noon.'))
  upstream.requests.length = 0
  const { client, sent } = await openClient()
  const results = { get_weather: { degrees: 21, note: 'schön ☀️' }, get_time: { time: '12:00' } }
  const { answer, called } = await runTools(client, QUESTION, results, stream)
  expect(answer).toBe('21 degrees at noon.')
  expect(called).toEqual([
    ['get_weather', { city: 'Ulm' }],
    ['get_time', { zone: 'CET' }],
  ])
  expect(messagesOf(sent.at(-1))).toMatchObject([
    QUESTION,
    { role: 'assistant', tool_calls: [WEATHER_CALL, TIME_CALL] },
    { role: 'tool', tool_call_id: WEATHER_CALL.id, content: '{"degrees":21,"note":"schön ☀️"}' },
    { role: 'tool', tool_call_id: TIME_CALL.id, content: '{"time":"12:00"}' },
  ])
  // The upstream got what the SDK sent, message for message and tool for tool.
  expect(upstream.requests.map(({ body }) => [body.messages, body.tools])).toEqual(
    sent.map(({ body }) => [body.messages, body.tools]),
  )
})

async function openClient() {
  return watchedClient(gateway, (await gateway.issue()).secret)
}

function messagesOf(sent: Sent | undefined): unknown {
  return sent?.body.messages
}
