import { beforeEach, describe, expect, test } from '@jest/globals'
import { requireCatalog } from '../../layers/catalog/parse-catalog.ts'
import { type Asked, type AskOptions, catalogFor } from '../support/gateway.ts'
import { openFor, openUpstream } from '../support/stack.ts'
import { write } from '../support/texts.ts'
import { event, sse, status } from '../support/upstream.ts'

/** The tokens around a prompt, as chat's estimate has them: its role, its template and its answer's. */
const AROUND = 2 + 4 + 3
const ASK = { model: 'test-model', prompt: 'Say hello' }

const upstream = await openUpstream()
const { providers, models } = catalogFor(upstream.url)
const claude = { type: 'anthropic', baseUrl: upstream.url }
const routes = [{ provider: 'claude', model: 'upstream-model' }]
const gateway = await openFor(
  requireCatalog({ providers: { ...providers, claude }, models: [...models, { ...models[0], id: 'claude', routes }] }),
)

beforeEach(() => {
  upstream.reply = write(['Hello'])
})

const ask = (body: object, given: AskOptions = {}) => gateway.ask(body, { path: '/v1/completions', ...given })

const textsOf = ({ text }: Asked) => JSON.parse(text).choices.map((choice: { text: string }) => choice.text)

test('a text completion goes on in the caller’s own words, with its cap, and leaves a row like every request', async () => {
  const asked = await ask({ ...ASK, suffix: '!', stop: ['x'], max_tokens: 9, top_k: 3, user: null })
  expect(textsOf(asked)).toEqual(['Hello'])
  const sent = upstream.requests.at(-1)
  expect(sent?.body).toEqual({
    model: 'upstream-model',
    prompt: 'Say hello',
    suffix: '!',
    stop: ['x'],
    max_tokens: 9,
    top_k: 3,
    stream: false,
  })
  expect(asked.row).toMatchObject({
    endpoint: 'completions',
    contract: 'completions',
    outcome: 'completed',
    promptTokens: 10,
    completionTokens: 5,
    cost: 20_000n,
  })
  expect(asked.response.headers.get('x-svc-cost')).toBe('0.00002')
})

test('a caller that names no cap gets OpenAI’s, 16 tokens', async () => {
  await ask(ASK)
  expect(upstream.requests.at(-1)?.body.max_tokens).toBe(16)
})

test('the hold covers every choice of every prompt', async () => {
  upstream.reply = write(['1', '2', '3', '4', '5', '6'], { prompt_tokens: 10, completion_tokens: 10 ** 9 })
  const body = { ...ASK, prompt: ['a', 'b', 'c'], n: 2, max_tokens: 100 }
  const { row } = await ask(body)
  const prompt = JSON.stringify(body).length + 64 + 3 * 16
  expect([row.hold, row.cost, row.usageCapped]).toEqual([BigInt(prompt + 600 * 2) * 1000n, row.hold, true])
})

test.each([
  ['a text', 'Hello there', 2 + AROUND],
  ['token ids', [1, 2, 3, 4, 5, 6, 7], 7 + AROUND],
])('a prompt of %s that nobody counted is estimated, and what was echoed is not charged', async (_, prompt, tokens) => {
  upstream.reply = write(['Hello'], null)
  const echo = typeof prompt === 'string'
  const { row } = await ask({ ...ASK, prompt, echo })
  expect(row).toMatchObject({ usageSource: 'estimate', promptTokens: tokens, completionTokens: 1 })
})

test('an echo is the gateway’s own: each choice begins with its prompt, whole and streamed, and the upstream is not asked for it', async () => {
  upstream.reply = write(['1', '2', '3', '4'])
  const body = { ...ASK, prompt: ['a', 'b'], n: 2, echo: true }
  expect(textsOf(await ask(body))).toEqual(['a1', 'a2', 'b3', 'b4'])
  expect(upstream.requests.at(-1)?.body).not.toHaveProperty('echo')
  const streamed = (await ask({ ...body, stream: true })).text
  const texts = ['', '', '', '']
  for (const [, data = ''] of streamed.matchAll(/^data: (\{.*)$/gm)) {
    for (const { index, text } of JSON.parse(data).choices) texts[index] += text
  }
  expect(texts).toEqual(['a1', 'a2', 'b3', 'b4'])
})

test('a stream that breaks costs the part that was delivered, and ends with an error', async () => {
  const piece = { id: 'c', object: 'text_completion', choices: [{ index: 0, text: 'Hel', finish_reason: null }] }
  upstream.reply = sse([event(piece), event({ error: { message: 'overloaded' } })])
  const { text, row } = await ask({ ...ASK, stream: true })
  expect(text).toContain('"text":"Hel"')
  expect(text).toContain('data: {"error":')
  expect(text).not.toContain('[DONE]')
  expect(row).toMatchObject({ outcome: 'upstream_error', completionTokens: 1 })
})

test('a model without text completions at its provider is a 400 that says what to do, and its route does not rest for it', async () => {
  upstream.reply = status(404, { error: { message: 'This is a chat model.' } })
  const failures = () => gateway.logLines.filter((line) => line.includes('upstream_failed')).length
  const before = failures()
  for (let i = 0; i < 3; i++) {
    const { status: code, error, response } = await ask(ASK)
    expect([code, error.param, response.headers.get('x-svc-attempts')]).toEqual([400, 'model', 'up=unsupported 404'])
    expect(error.message).toContain('POST /v1/chat/completions')
  }
  expect(failures()).toBe(before)
})

describe('other dialects', () => {
  const MESSAGE = {
    type: 'message',
    role: 'assistant',
    content: [{ type: 'text', text: 'Hello' }],
    stop_reason: 'end_turn',
    usage: { input_tokens: 10, output_tokens: 5 },
  }

  test('another dialect is told the prompt as what a user says, and its answer is text', async () => {
    upstream.reply = status(200, MESSAGE)
    const asked = await ask({ ...ASK, model: 'claude', temperature: 0.5, n: 1, echo: true })
    expect(textsOf(asked)).toEqual(['Say helloHello'])
    expect(upstream.requests.at(-1)?.body).toMatchObject({
      messages: [{ role: 'user', content: [{ type: 'text', text: 'Say hello' }] }],
      max_tokens: 16,
      temperature: 0.5,
    })
  })

  test.each([
    ['suffix', { suffix: 'x' }],
    ['prompt', { prompt: ['a', 'b'] }],
    ['prompt', { prompt: [1, 2] }],
    ['n', { n: 2 }],
    ['logprobs', { logprobs: 1 }],
  ])('another dialect has no words for %s: a 400 that names it', async (param, fields) => {
    expect(await ask({ ...ASK, model: 'claude', ...fields })).toMatchObject({ status: 400, error: { param } })
  })
})

describe('bad input', () => {
  const BAD: Record<string, [body: object, param: string | null, words: string]> = {
    'no object': [[], null, 'must be a JSON object'],
    'no model': [{ prompt: 'a' }, 'model', 'must be the id of a model'],
    'no prompt': [{ model: 'test-model' }, 'prompt', 'it is missing'],
    'an object as prompt': [{ ...ASK, prompt: {} }, 'prompt', 'got an object'],
    'an empty list of prompts': [{ ...ASK, prompt: [] }, 'prompt', 'not be empty'],
    'texts and numbers': [{ ...ASK, prompt: ['a', 1] }, 'prompt[1]', 'must be a string'],
    'a bad token id': [{ ...ASK, prompt: [[1], [2, -3]] }, 'prompt[1][1]', 'a token id'],
    'too many prompts': [{ ...ASK, prompt: Array(129).fill('a') }, 'prompt', 'at most 128 elements'],
    'too many choices in all': [{ ...ASK, prompt: ['a', 'b'], n: 65 }, 'n', 'asks for 130 choices'],
    'choices that nobody gets': [{ ...ASK, best_of: 2 }, 'best_of', 'billed'],
    'a cap of nothing': [{ ...ASK, max_tokens: 0 }, 'max_tokens', 'at least 1'],
    'log probabilities as chat has them': [{ ...ASK, logprobs: true }, 'logprobs', 'between 0 and 5'],
    'an echo with log probabilities': [{ ...ASK, echo: true, logprobs: 0 }, 'echo', 'left out'],
    'an echo of token ids': [{ ...ASK, echo: true, prompt: [1] }, 'echo', 'texts only'],
    'an echo that is many times as long': [
      { ...ASK, echo: true, prompt: 'x'.repeat(20_000), n: 128 },
      'echo',
      'would repeat 2560000 characters',
    ],
    'a temperature in words': [{ ...ASK, temperature: 'hot' }, 'temperature', 'between 0 and 2'],
    'stream options without a stream': [{ ...ASK, stream_options: {} }, 'stream_options', "'stream' is true"],
    'a bad stream option': [
      { ...ASK, stream: true, stream_options: { include_usage: 1 } },
      'stream_options.include_usage',
      'true or false',
    ],
    'a field that may cost extra': [
      { ...ASK, service_tier: 'priority' },
      'service_tier',
      'operator of this gateway can allow it',
    ],
    'a tool': [{ ...ASK, tools: [] }, 'tools', '/v1/chat/completions'],
  }

  test.each(Object.entries(BAD))(
    '%s is a 400 that names the field, and asks nobody',
    async (_, [body, param, words]) => {
      const before = upstream.requests.length
      const { status: code, error } = await ask(body)
      expect([code, error.param, error.message]).toEqual([400, param, expect.stringContaining(words)])
      expect(upstream.requests.length).toBe(before)
    },
  )
})

test('text completions need the scope of chat', async () => {
  expect((await ask(ASK, { scopes: ['embeddings'] })).status).toBe(403)
})
