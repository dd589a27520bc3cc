import { beforeAll, expect, test } from '@jest/globals'
import { HumanMessage, ToolMessage } from '@langchain/core/messages'
import { ChatOpenAI } from '@langchain/openai'
import type { TestGateway } from '../support/gateway.ts'
import { openBoth } from '../support/stack.ts'
import { say, type Upstream } from '../support/upstream.ts'
import { inTurn } from './support/in-turn.ts'
import { askForBothTools, TIME_CALL, WEATHER_CALL } from './support/tool-answers.ts'

let upstream: Upstream
let gateway: TestGateway

beforeAll(async () => {
  ;({ upstream, gateway } = await openBoth())
})

const TOKENS = { input_tokens: 10, output_tokens: 5, total_tokens: 15 }
const RESULTS: Record<string, string> = { get_weather: '21 degrees', get_time: '12:00' }
const TOOLS = Object.keys(RESULTS).map((name) => ({
  type: 'function' as const,
  function: { name, parameters: { type: 'object', properties: {} } },
}))

test('LangChain invokes a model and gets its usage', async () => {
  upstream.reply = say('Hello there')
  const answer = await (await issueModel()).invoke('Hello')
  expect(answer.content).toBe('Hello there')
  expect(answer.usage_metadata).toMatchObject(TOKENS)
  expect(answer.response_metadata).toMatchObject({ model_name: 'test-model', finish_reason: 'stop' })
})

test('LangChain streams a model’s answer and gets its usage', async () => {
  upstream.reply = say('Hello there')
  const pieces = []
  for await (const piece of await (await issueModel()).stream('Hello')) pieces.push(piece)
  expect(pieces.map(({ content }) => content).join('')).toBe('Hello there')
  expect(pieces.find(({ usage_metadata }) => usage_metadata)?.usage_metadata).toMatchObject(TOKENS)
})

test('LangChain calls tools and gives back their results', async () => {
  upstream.reply = inTurn(askForBothTools, say('21 degrees at noon.'))
  const model = (await issueModel()).bindTools(TOOLS)
  const question = new HumanMessage('Weather and time?')
  const asked = await model.invoke([question])
  expect(asked.tool_calls).toMatchObject([
    { id: WEATHER_CALL.id, name: 'get_weather', args: { city: 'Ulm' } },
    { id: TIME_CALL.id, name: 'get_time', args: { zone: 'CET' } },
  ])
  const results = (asked.tool_calls ?? []).map(
    ({ id = '', name }) => new ToolMessage({ content: RESULTS[name] ?? '', tool_call_id: id }),
  )
  expect((await model.invoke([question, asked, ...results])).content).toBe('21 degrees at noon.')
  expect(upstream.requests.at(-1)?.body.messages).toMatchObject([
    { role: 'user' },
    { role: 'assistant', tool_calls: [WEATHER_CALL, TIME_CALL] },
    { role: 'tool', tool_call_id: WEATHER_CALL.id, content: '21 degrees' },
    { role: 'tool', tool_call_id: TIME_CALL.id, content: '12:00' },
  ])
})

test('LangChain does not repeat a call that the balance does not cover', async () => {
  const { key, secret } = await gateway.issue({ credits: '0' })
  const refused = openModel(secret).invoke('Hello')
  await expect(refused).rejects.toMatchObject({ status: 402, code: 'credit_balance_exhausted' })
  expect(gateway.logLines.filter((line) => line.includes(key.id))).toHaveLength(1)
})

async function issueModel() {
  return openModel((await gateway.issue()).secret)
}

function openModel(apiKey: string) {
  return new ChatOpenAI({ model: 'test-model', apiKey, configuration: { baseURL: `${gateway.baseUrl}/v1` } })
}
