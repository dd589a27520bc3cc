import { expect, test } from '@jest/globals'
import type { ChatCompletionTool } from 'openai/resources/chat/completions'
import { openBoth } from '../support/stack.ts'
import { askForBothTools, TIME_CALL, WEATHER_CALL } from './support/tool-answers.ts'
import { watchedClient } from './support/watched-client.ts'

const QUESTION = { role: 'user' as const, content: 'What is the weather in Ulm, and what time is it?' }
const TOOLS: ChatCompletionTool[] = ['get_weather', 'get_time'].map((name) => ({
  type: 'function',
  function: { name, parameters: { type: 'object', properties: {}, additionalProperties: true } },
}))
const ASK = { model: 'test-model', messages: [QUESTION], tools: TOOLS }

test('tool calls that an upstream sends in pieces come in the same pieces in a stream, for the SDK to gather', async () => {
  const { upstream, gateway } = await openBoth()
  upstream.reply = askForBothTools
  const { client } = watchedClient(gateway, (await gateway.issue()).secret)
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
