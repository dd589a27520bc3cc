import { describe, expect, test } from '@jest/globals'
import { OpenAI as LangChainOpenAI } from '@langchain/openai'
import OpenAI from 'openai'
import { openBoth } from '../support/stack.ts'
import { LOGPROBS, write } from '../support/texts.ts'
import * as schema from './support/answers.ts'
import { dataOf, framesOf } from './support/read-chunks.ts'

const { upstream, gateway } = await openBoth()
const { secret: apiKey } = await gateway.issue({ rpm: 60_000 })
const baseURL = `${gateway.baseUrl}/v1`
const client = new OpenAI({ apiKey, baseURL, maxRetries: 0 })
const model = 'test-model'

test('openai-node gets a text completion', async () => {
  upstream.reply = write(['Hello'])
  const { choices, usage } = await client.completions.create({ model, prompt: 'Say hello', max_tokens: 5 })
  expect(choices).toEqual([{ index: 0, text: 'Hello', logprobs: null, finish_reason: 'stop' }])
  expect(usage).toMatchObject({ prompt_tokens: 10, completion_tokens: 5, total_tokens: 15 })
})

test('openai-node streams a text completion, with its usage at the end', async () => {
  upstream.reply = write(['Hello'])
  const wish = { stream: true, stream_options: { include_usage: true } } as const
  const chunks = await Array.fromAsync(await client.completions.create({ model, prompt: 'Say hello', ...wish }))
  expect(chunks.flatMap(({ choices }) => choices.map(({ text }) => text)).join('')).toBe('Hello')
  expect(chunks.at(-1)?.usage).toMatchObject({ completion_tokens: 5 })
})

test('LangChain completes a prompt, whole and streamed', async () => {
  upstream.reply = write(['Hello'])
  const llm = new LangChainOpenAI({ model, apiKey, maxTokens: 5, configuration: { baseURL } })
  expect(await llm.invoke('Say hello')).toBe('Hello')
  expect((await Array.fromAsync(await llm.stream('Say hello'))).join('')).toBe('Hello')
})

describe.each([
  ['one prompt', {}, ['Hello']],
  ['several prompts and choices', { prompt: ['a', 'b'], n: 2 }, ['1', '2', '3', '4']],
  ['log probabilities', { logprobs: 1 }, ['Hello']],
])('answers', (name, wish, texts) => {
  const ask = (body: object) =>
    gateway.post(apiKey, { model, prompt: 'Say hello', ...wish, ...body }, {}, '/v1/completions')

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
