import { createOpenAICompatible } from '@ai-sdk/openai-compatible'
import { beforeAll, expect, test } from '@jest/globals'
import { APICallError, generateText, isStepCount, streamText, tool } from 'ai'
import { z } from 'zod'
import type { TestGateway } from '../support/gateway.ts'
import { openBoth } from '../support/stack.ts'
import { chunk, say, type Upstream } from '../support/upstream.ts'
import { heldBack } from './support/held-back.ts'
import { inTurn } from './support/in-turn.ts'
import { askForBothTools, TIME_CALL, WEATHER_CALL } from './support/tool-answers.ts'

let upstream: Upstream
let gateway: TestGateway

beforeAll(async () => {
  ;({ upstream, gateway } = await openBoth())
})

const TOKENS = { inputTokens: 10, outputTokens: 5, totalTokens: 15 }
const tools = {
  get_weather: tool({ inputSchema: z.object({ city: z.string() }), execute: ({ city }) => `${city}: 21 degrees` }),
  get_time: tool({ inputSchema: z.object({ zone: z.string() }), execute: ({ zone }) => `12:00 ${zone}` }),
}

test('the Vercel AI SDK generates a text and gets its usage', async () => {
  upstream.reply = say('Hello there')
  const { text, usage, finishReason, response } = await generateText({ model: await issueModel(), prompt: 'Hello' })
  expect({ text, finishReason }).toEqual({ text: 'Hello there', finishReason: 'stop' })
  expect(usage).toMatchObject(TOKENS)
  expect(response.modelId).toBe('test-model')
  expect((await gateway.readRow(response.headers?.['x-request-id'])).cost).toBe(20_000n)
})

test('the Vercel AI SDK streams a text and gets its usage', async () => {
  upstream.reply = say('Hello there')
  const result = streamText({ model: await issueModel(), prompt: 'Hello' })
  let text = ''
  for await (const piece of result.textStream) text += piece
  expect(text).toBe('Hello there')
  expect(await result.finishReason).toBe('stop')
  expect(await result.usage).toMatchObject(TOKENS)
})

test.each(['generateText', 'streamText'] as const)('the Vercel AI SDK runs a tool loop with %s', async (how) => {
  upstream.reply = inTurn(askForBothTools, say('21 degrees at noon.'))
  upstream.requests.length = 0
  const request = { model: await issueModel(), prompt: 'Weather and time?', tools, stopWhen: isStepCount(3) }
  const text = how === 'generateText' ? (await generateText(request)).text : await streamText(request).text
  expect(text).toBe('21 degrees at noon.')
  expect(upstream.requests).toHaveLength(2)
  expect(upstream.requests[1]?.body.messages).toMatchObject([
    { role: 'user' },
    { role: 'assistant', tool_calls: [WEATHER_CALL, TIME_CALL] },
    { role: 'tool', tool_call_id: WEATHER_CALL.id, content: 'Ulm: 21 degrees' },
    { role: 'tool', tool_call_id: TIME_CALL.id, content: '12:00 CET' },
  ])
})

test('the Vercel AI SDK gets the message of a 402 and does not repeat the call', async () => {
  const { key, secret } = await gateway.issue({ credits: '0' })
  const error = await generateText({ model: openModel(secret), prompt: 'Hello' }).then(
    () => undefined,
    (reason: unknown) => reason,
  )
  expect(APICallError.isInstance(error) && error).toMatchObject({
    statusCode: 402,
    isRetryable: false,
    message: expect.stringContaining('The balance is 0 credits'),
    data: { error: { type: 'insufficient_quota', code: 'credit_balance_exhausted' } },
  })
  expect(gateway.logLines.filter((line) => line.includes(key.id))).toHaveLength(1)
})

test('the Vercel AI SDK gets an error when a stream breaks in the middle', async () => {
  const { answer, reply } = heldBack([chunk({ role: 'assistant', content: 'Hel' })], 'broken')
  upstream.reply = reply
  const errors: unknown[] = []
  const onError = ({ error }: { error: unknown }) => {
    errors.push(error)
  }
  const received: string[] = []
  for await (const part of streamText({ model: await issueModel(), prompt: 'Hello', onError }).fullStream) {
    received.push(part.type)
    if (part.type === 'text-delta') answer()
  }
  expect(errors).toHaveLength(1)
  expect(received).toContain('error')
})

async function issueModel() {
  return openModel((await gateway.issue()).secret)
}

function openModel(apiKey: string) {
  const baseURL = `${gateway.baseUrl}/v1`
  return createOpenAICompatible({ name: 'waybill', baseURL, apiKey, includeUsage: true })('test-model')
}
