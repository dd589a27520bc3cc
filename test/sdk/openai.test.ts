import { expect, test } from '@jest/globals'
import { BadRequestError } from 'openai'
import { zodResponseFormat } from 'openai/helpers/zod'
import { z } from 'zod'
import { formatCredits } from '../../layers/gateway/domain/money/money.ts'
import { catalogFor } from '../support/gateway.ts'
import { openFor, openUpstream } from '../support/stack.ts'
import { chunk, DONE, say, sse, USAGE, usageChunk } from '../support/upstream.ts'
import { heldBack } from './support/held-back.ts'
import { askForBothTools, TIME_CALL, WEATHER_CALL } from './support/tool-answers.ts'
import { watchedClient } from './support/watched-client.ts'

const upstream = await openUpstream()
const more = [
  {},
  { id: 'vendor/family/large', ownedBy: 'vendor', created: 1721260800 },
  { id: 'retired', active: false },
]
const { providers } = catalogFor(upstream.url)
const gateway = await openFor({ providers, models: more.flatMap((model) => catalogFor(upstream.url, model).models) })

const HELLO = { model: 'test-model', messages: [{ role: 'user' as const, content: 'Hello' }] }
/** 10 and 5 tokens at 1 and 2 credits per million. */
const COST = 0.00002
const ANSWER = [chunk({ content: 'Hello' }), chunk({}, 'stop'), usageChunk(USAGE), DONE]

test('a completion has the form that the openai SDK expects, with the usage, its cost and the id of its row', async () => {
  upstream.reply = say('Hello there')
  const { client, key } = await openClient()
  const completion = await client.chat.completions.create(HELLO)
  expect(completion).toMatchObject({ object: 'chat.completion', model: 'test-model' })
  expect(completion.choices).toEqual([
    {
      index: 0,
      message: { role: 'assistant', content: 'Hello there', refusal: null },
      logprobs: null,
      finish_reason: 'stop',
    },
  ])
  expect(completion.usage).toMatchObject({ ...USAGE, cost: COST })
  const row = { requestId: completion._request_id, keyId: key.id, outcome: 'completed', cost: 20_000n }
  expect(await gateway.readRow(completion._request_id)).toMatchObject(row)
})

test('a stream gives every piece of the answer in order, and no usage that was not asked for', async () => {
  upstream.reply = sse([
    chunk({ role: 'assistant', content: '' }),
    ...['One', ' two', ' three'].map((content) => chunk({ content })),
    chunk({}, 'stop'),
    usageChunk(USAGE),
    DONE,
  ])
  const { client } = await openClient()
  const chunks = await Array.fromAsync(await client.chat.completions.create({ ...HELLO, stream: true }))
  expect(chunks.map(({ choices }) => choices[0]?.delta.content)).toEqual(['', 'One', ' two', ' three', undefined])
  expect(chunks.at(-1)?.choices[0]?.finish_reason).toBe('stop')
  expect(chunks.filter((it) => 'usage' in it || it.choices.length === 0)).toEqual([])
})

test('a stream ends with the usage and its cost if they were asked for', async () => {
  upstream.reply = say('Hello')
  const { client } = await openClient()
  const stream = await client.chat.completions.create({
    ...HELLO,
    stream: true,
    stream_options: { include_usage: true },
  })
  const chunks = await Array.fromAsync(stream)
  const last = chunks.pop()
  expect(last?.choices).toEqual([])
  expect(last?.usage).toMatchObject({ ...USAGE, cost: COST })
  expect(chunks.map(({ usage }) => usage)).toEqual(chunks.map(() => null))
})

test('a stream gives each piece as soon as the upstream has made it', async () => {
  const { answer, reply } = heldBack([chunk({ role: 'assistant', content: 'Hello' })], ANSWER)
  upstream.reply = reply
  const { client } = await openClient()
  const received: string[] = []
  for await (const { choices } of await client.chat.completions.create({ ...HELLO, stream: true })) {
    const content = choices[0]?.delta.content
    if (content) received.push(content)
    // The upstream goes on only because its first piece has arrived here.
    answer()
  }
  expect(received).toEqual(['Hello', 'Hello'])
})

test('the openai SDK gathers a stream into the whole answer', async () => {
  upstream.reply = say('Hello there')
  const { client } = await openClient()
  const stream = client.chat.completions.stream({ ...HELLO, stream_options: { include_usage: true } })
  const completion = await stream.finalChatCompletion()
  expect(completion.choices[0]).toMatchObject({ message: { content: 'Hello there' }, finish_reason: 'stop' })
  expect(completion.usage).toMatchObject(USAGE)
})

test('the openai SDK parses an answer by the schema that it sent', async () => {
  upstream.reply = say('{"city":"Ulm","degrees":21}')
  const { client } = await openClient()
  const completion = await client.chat.completions.parse({
    ...HELLO,
    response_format: zodResponseFormat(z.object({ city: z.string(), degrees: z.number() }), 'weather'),
  })
  expect(completion.choices[0]?.message.parsed).toEqual({ city: 'Ulm', degrees: 21 })
})

test('the openai SDK lists all active models with their prices', async () => {
  const { client } = await openClient()
  const models = await Array.fromAsync(client.models.list())
  expect(models.map(({ id }) => id)).toEqual(['test-model', 'vendor/family/large'])
  expect(models[0]).toMatchObject({
    object: 'model',
    owned_by: 'up',
    pricing: { prompt: '0.000001', completion: '0.000002', input_cache_read: '0.0000005' },
  })
})

test.each(['test-model', 'vendor/family/large'])('the openai SDK retrieves the model %s by its id', async (id) => {
  const { client } = await openClient()
  expect(await client.models.retrieve(id)).toMatchObject({ id, object: 'model' })
})

test('openai-node gets a quote by client.post, and then holds exactly that', async () => {
  const { client } = await openClient()
  const asked = upstream.requests.length
  const body = { ...HELLO, messages: [{ role: 'user' as const, content: 'Grüße, "Welt" 🚀' }], max_tokens: 50 }
  const quote = (body: object) =>
    client.post<{ hold: string }>('/quote', { body: { endpoint: '/v1/chat/completions', body } })
  const { hold } = await quote(body)
  expect(upstream.requests).toHaveLength(asked)
  const { _request_id } = await client.chat.completions.create(body)
  expect(formatCredits((await gateway.readRow(_request_id)).hold)).toBe(hold)
  const wrong = quote({ ...body, max_tokens: 0 })
  await expect(wrong).rejects.toThrow(BadRequestError)
  await expect(wrong).rejects.toMatchObject({ param: 'max_tokens' })
})

test('tool calls that an upstream sends in pieces come in the same pieces in a stream, for the SDK to gather', async () => {
  upstream.reply = askForBothTools
  const { client } = await openClient()
  const parameters = { type: 'object', properties: {}, additionalProperties: true }
  const tools = ['get_weather', 'get_time'].map((name) => ({
    type: 'function' as const,
    function: { name, parameters },
  }))
  const pieces: string[] = []
  const stream = client.chat.completions.stream({ ...HELLO, tools })
  stream.on('tool_calls.function.arguments.delta', ({ index, arguments_delta }) => {
    pieces.push(`${index} ${arguments_delta}`)
  })
  const completion = await stream.finalChatCompletion()
  expect(completion.choices[0]?.finish_reason).toBe('tool_calls')
  expect(completion.choices[0]?.message.tool_calls).toMatchObject([WEATHER_CALL, TIME_CALL])
  expect(pieces.filter((piece) => piece.length > 2)).toEqual(['0 {"ci', '0 ty":"Ulm"}', '1 {"zo', '1 ne":"CET"}'])
})

async function openClient() {
  const { key, secret } = await gateway.issue()
  return { key, ...watchedClient(gateway, secret) }
}
