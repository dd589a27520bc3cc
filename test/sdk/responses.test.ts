import { createOpenAI } from '@ai-sdk/openai'
import { describe, expect, test } from '@jest/globals'
import { APICallError, generateText, isStepCount, streamText, tool } from 'ai'
import OpenAI from 'openai'
import { zodTextFormat } from 'openai/helpers/zod'
import { z } from 'zod'
import { openBoth } from '../support/stack.ts'
import { chunk, DONE, say, sse, USAGE, usageChunk } from '../support/upstream.ts'
import { heldBack } from './support/held-back.ts'
import { inTurn } from './support/in-turn.ts'
import { WEATHER_CALL } from './support/tool-answers.ts'

const { upstream, gateway } = await openBoth()

const TOKENS = { input_tokens: 10, output_tokens: 5, total_tokens: 15 }
const ASK = { model: 'test-model', input: 'Hello' }

async function access(settings = {}) {
  return { baseURL: `${gateway.baseUrl}/v1`, apiKey: (await gateway.issue(settings)).secret }
}
const openaiClient = async (settings = {}) => new OpenAI({ ...(await access(settings)), maxRetries: 0 })

describe('the openai SDK', () => {
  test('the openai SDK creates a response and reads its text and usage', async () => {
    upstream.reply = say('Hello there')
    const answer = await (await openaiClient()).responses.create(ASK)
    expect(answer).toMatchObject({ status: 'completed', output_text: 'Hello there', usage: TOKENS })
  })

  test('the openai SDK streams a response and gathers it as it was', async () => {
    upstream.reply = say('Hello there')
    const stream = (await openaiClient()).responses.stream(ASK)
    let text = ''
    stream.on('response.output_text.delta', ({ delta }) => {
      text += delta
    })
    const final = await stream.finalResponse()
    expect(text).toBe('Hello there')
    expect(final).toMatchObject({ status: 'completed', output_text: 'Hello there', usage: TOKENS })
  })

  test('the openai SDK parses an answer that has a schema', async () => {
    upstream.reply = say('{"city":"Ulm","degrees":21}')
    const format = zodTextFormat(z.object({ city: z.string(), degrees: z.number() }), 'weather')
    const answer = await (await openaiClient()).responses.parse({ ...ASK, text: { format } })
    expect(answer.output_parsed).toEqual({ city: 'Ulm', degrees: 21 })
    expect(upstream.requests.at(-1)?.body.response_format).toMatchObject({
      type: 'json_schema',
      json_schema: { name: 'weather', strict: true, schema: { required: ['city', 'degrees'] } },
    })
  })

  test('the openai SDK throws when a stream breaks in the middle, and has what came before', async () => {
    const { answer, reply } = heldBack([chunk({ role: 'assistant', content: 'Hel' })], 'broken')
    upstream.reply = reply
    const seen: string[] = []
    const read = async () => {
      for await (const event of await (await openaiClient()).responses.create({ ...ASK, stream: true })) {
        seen.push(event.type)
        if (event.type === 'response.output_text.delta') answer()
      }
    }
    await expect(read()).rejects.toMatchObject({
      code: 'upstream_error',
      message: expect.stringContaining('could not'),
    })
    expect(seen).toContain('response.output_text.delta')
  })
})

describe('the AI SDK', () => {
  const tools = {
    get_weather: tool({ inputSchema: z.object({ city: z.string() }), execute: ({ city }) => `${city}: 21 degrees` }),
    get_time: tool({ inputSchema: z.object({ zone: z.string() }), execute: ({ zone }) => `12:00 ${zone}` }),
  }
  const model = async (settings = {}) => createOpenAI(await access(settings))('test-model')

  test('the AI SDK’s OpenAI provider shows what a model thinks', async () => {
    upstream.reply = sse([
      chunk({ reasoning_content: 'Hm.' }),
      chunk({ content: 'Yes.' }, 'stop'),
      usageChunk(USAGE),
      DONE,
    ])
    expect((await generateText({ model: await model(), prompt: 'Hi' })).reasoningText).toBe('Hm.')
    expect(await streamText({ model: await model(), prompt: 'Hi' }).reasoningText).toBe('Hm.')
  })

  test('the AI SDK that refers to a message it was told is asked to send it, and does so with store: false', async () => {
    const speaking = sse([
      chunk({ content: 'Let me look.' }),
      chunk({ tool_calls: [{ index: 0, ...WEATHER_CALL }] }),
      chunk({}, 'tool_calls'),
      DONE,
    ])
    const request = { prompt: 'Weather?', tools, stopWhen: isStepCount(3), maxRetries: 0 }
    upstream.reply = inTurn(speaking, say('21 degrees.'))
    const error = await generateText({ ...request, model: await model() }).catch((reason: unknown) => reason)
    expect(APICallError.isInstance(error) && error.message).toContain('providerOptions: { openai: { store: false } }')
    upstream.reply = inTurn(speaking, say('21 degrees.'))
    const stored = { ...request, model: await model(), providerOptions: { openai: { store: false } } }
    expect((await generateText(stored)).text).toBe('21 degrees.')
  })

  test('the AI SDK gets an error when a stream breaks in the middle', async () => {
    const { answer, reply } = heldBack([chunk({ role: 'assistant', content: 'Hel' })], 'broken')
    upstream.reply = reply
    const errors: unknown[] = []
    const onError = ({ error }: { error: unknown }) => void errors.push(error)
    const parts = streamText({ model: await model(), prompt: 'Hi', onError, maxRetries: 0 }).fullStream
    for await (const part of parts) if (part.type === 'text-delta') answer()
    expect(errors).not.toEqual([])
    expect(JSON.stringify(errors)).toContain('could not answer')
  })
})
