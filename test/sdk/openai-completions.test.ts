import { beforeAll, describe, expect, test } from '@jest/globals'
import { OpenAI as LangChainOpenAI } from '@langchain/openai'
import OpenAI from 'openai'
import type { TestGateway } from '../support/gateway.ts'
import { openBoth } from '../support/stack.ts'
import { LOGPROBS, write } from '../support/texts.ts'
import type { Upstream } from '../support/upstream.ts'
import * as schema from './support/answers.ts'
import { dataOf, framesOf } from './support/read-chunks.ts'

let upstream: Upstream
let gateway: TestGateway
let apiKey: string
let baseURL: string
let client: OpenAI

const model = 'test-model'

beforeAll(async () => {
  ;({ upstream, gateway } = await openBoth())
  apiKey = (await gateway.issue({ rpm: 60_000 })).secret
  baseURL = `${gateway.baseUrl}/v1`
  client = new OpenAI({ apiKey, baseURL, maxRetries: 0 })
})

test('openai-node gets a text completion', async () => {
  upstream.reply = write(['Hello'])
  const { choices, usage } = await client.completions.create({ model, prompt: 'Say hello', max_tokens: 5 })
  expect(choices).toEqual([{ index: 0, text: 'Hello', logprobs: null, finish_reason: 'stop' }])
  expect(usage).toMatchObject({ prompt_tokens: 10, completion_tokens: 5, total_tokens: 15 })
})

test('openai-node streams a text completion, with its usage at the end', async () => {
  upstream.reply = write(['Hello'])
  const stream = await client.completions.create({
    model,
    prompt: 'Say hello',
    stream: true,
    stream_options: { include_usage: true },
  })
  const chunks = []
  for await (const chunk of stream) chunks.push(chunk)
  expect(chunks.flatMap(({ choices }) => choices.map(({ text }) => text)).join('')).toBe('Hello')
  expect(chunks.at(-1)?.usage).toMatchObject({ completion_tokens: 5 })
})

test('LangChain completes a prompt, whole and streamed', async () => {
  upstream.reply = write(['Hello'])
  const llm = new LangChainOpenAI({ model, apiKey, maxTokens: 5, configuration: { baseURL } })
  expect(await llm.invoke('Say hello')).toBe('Hello')
  let streamed = ''
  for await (const piece of await llm.stream('Say hello')) streamed += piece
  expect(streamed).toBe('Hello')
})

describe.each([
  ['one prompt', {}, ['Hello']],
  ['several prompts and choices', { prompt: ['a', 'b'], n: 2 }, ['1', '2', '3', '4']],
  ['log probabilities', { logprobs: 1 }, ['Hello']],
])('answers', (name, wish, texts) => {
  const ask = (body: object) =>
    fetch(`${baseURL}/completions`, {
      method: 'POST',
      headers: { Authorization: `Bearer ${apiKey}`, 'Content-Type': 'application/json' },
      body: JSON.stringify({ model, prompt: 'Say hello', ...wish, ...body }),
    })

  test(`a text completion follows OpenAI’s schema for ${name}`, async () => {
    upstream.reply = write(texts)
    const { choices } = schema.textCompletion.parse(await (await ask({})).json())
    expect(choices.map(({ text }) => text)).toEqual(texts)
    expect(choices[0]?.logprobs).toEqual('logprobs' in wish ? LOGPROBS : null)
  })

  test(`a stream of a text completion follows OpenAI’s schema for ${name}`, async () => {
    upstream.reply = write(texts)
    const frames = framesOf(await (await ask({ stream: true, stream_options: { include_usage: true } })).text())
    const events = frames
      .filter((frame) => frame.startsWith('data: {'))
      .map((frame) => schema.textChunk.parse(dataOf(frame)))
    expect(frames.at(-1)).toBe('data: [DONE]')
    const said = texts.map((_, i) => events.flatMap(({ choices }) => choices.filter(({ index }) => index === i)))
    expect(said.map((pieces) => pieces.map(({ text }) => text).join(''))).toEqual(texts)
    expect(events.at(-1)).toMatchObject({ choices: [], usage: { total_tokens: 15 } })
  })
})
