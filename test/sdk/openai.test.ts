import { afterAll, beforeAll, expect, test } from '@jest/globals'
import OpenAI from 'openai'
import { zodResponseFormat } from 'openai/helpers/zod'
import type { ChatCompletionChunk } from 'openai/resources/chat/completions'
import { z } from 'zod'
import { booksBalance, catalogFor, openGateway, type TestGateway } from '../support/gateway.ts'
import { chunk, DONE, say, sse, startUpstream, type Upstream, USAGE, usageChunk } from '../support/upstream.ts'
import { eventually } from './support/eventually.ts'
import { heldBack } from './support/held-back.ts'
import { watchedClient } from './support/watched-client.ts'

let upstream: Upstream
let gateway: TestGateway

beforeAll(async () => {
  upstream = await startUpstream()
  const catalog = catalogFor(upstream.url, { maxOutputTokens: 100_000 })
  const more = [
    { id: 'vendor/family/large', ownedBy: 'vendor', created: 1721260800 },
    { id: 'retired', active: false },
  ]
  const models = more.flatMap((model) => catalogFor(upstream.url, model).models)
  gateway = await openGateway({ ...catalog, models: [...catalog.models, ...models] })
})
afterAll(async () => {
  await gateway[Symbol.asyncDispose]()
  await upstream[Symbol.asyncDispose]()
})

const HELLO = { model: 'test-model', messages: [{ role: 'user' as const, content: 'Hello' }] }
/** 10 and 5 tokens at 1 and 2 credits per million. */
const COST = '0.00002'
const COST_NANO = 20_000n
const ANSWER = [chunk({ content: 'Hello' }), chunk({}, 'stop'), usageChunk(USAGE), DONE]

test('a completion has the form that the openai SDK expects, with the usage and its cost', async () => {
  upstream.reply = say('Hello there')
  const { client } = await openClient()
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
  expect(completion.usage).toMatchObject({ ...USAGE, cost: Number(COST) })
})

test('the _request_id of a completion finds its usage row', async () => {
  upstream.reply = say('Hello')
  const { client, key } = await openClient()
  const { _request_id } = await client.chat.completions.create(HELLO)
  const row = await gateway.readRow(_request_id)
  expect(row).toMatchObject({ requestId: _request_id, keyId: key.id, outcome: 'completed', cost: COST_NANO })
})

test('a completion that the client no longer waits for is still billed, and nothing stays held', async () => {
  const { asked, answer, reply } = heldBack([], ANSWER)
  upstream.reply = reply
  const { client, key } = await openClient()
  const leaving = new AbortController()
  const completion = client.chat.completions.create(HELLO, { signal: leaving.signal })
  await asked
  leaving.abort()
  await expect(completion).rejects.toBeInstanceOf(OpenAI.APIUserAbortError)
  answer()
  const { holds, spent } = await settled(key.id)
  expect({ holds, spent }).toEqual({ holds: {}, spent: COST_NANO })
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
  const chunks = await collect(await client.chat.completions.create({ ...HELLO, stream: true }))
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
  const chunks = await collect(stream)
  const last = chunks.pop()
  expect(last?.choices).toEqual([])
  expect(last?.usage).toMatchObject({ ...USAGE, cost: Number(COST) })
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

test('a stream with keep-alive comments before its answer is like any other to the openai SDK', async () => {
  const timing = { commitAfterMs: 1, keepAliveMs: 1 }
  await using hasty = await openGateway(catalogFor(upstream.url), { timing })
  const { answer, reply } = heldBack([], ANSWER)
  upstream.reply = reply
  const { client, sent } = watchedClient(hasty, (await hasty.issue()).secret, { keepCopy: true })
  const stream = await client.chat.completions.create({ ...HELLO, stream: true })
  const copy = sent[0]?.copy?.body?.getReader()
  expect(Buffer.from((await copy?.read())?.value ?? []).toString()).toMatch(/^: keep-alive\n/)
  // Not awaited: a body with a copy is cancelled only when both are.
  copy?.cancel()
  answer()
  const chunks = await collect(stream)
  expect(chunks.map(({ choices }) => choices[0]?.delta.content ?? '').join('')).toBe('Hello')
})

test('a stream that the client aborts is read to its end and billed in full, and nothing stays held', async () => {
  // More than all the buffers between the upstream and a client that does not read.
  const rest = Array.from({ length: 128 }, () => chunk({ content: ' '.repeat(64 * 1024) }))
  const { answer, reply } = heldBack([chunk({ role: 'assistant', content: 'first' })], [...rest, ...ANSWER])
  upstream.reply = reply
  const { client, key } = await openClient()
  const { data: stream, request_id } = await client.chat.completions.create({ ...HELLO, stream: true }).withResponse()
  for await (const { choices } of stream) {
    expect(choices[0]?.delta.content).toBe('first')
    break
  }
  expect(stream.controller.signal.aborted).toBe(true)
  expect(Object.keys((await gateway.readKey(key.id)).holds)).toEqual([request_id])
  answer()
  const after = await settled(key.id)
  expect(after.holds).toEqual({})
  expect(after.spent).toBe(COST_NANO)
  expect(booksBalance(after)).toBe(true)
  expect(await gateway.readRow(request_id)).toMatchObject({
    outcome: 'completed',
    promptTokens: USAGE.prompt_tokens,
    completionTokens: USAGE.completion_tokens,
    usageSource: 'upstream',
    cost: COST_NANO,
  })
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
  const models = await collect(client.models.list())
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

async function openClient() {
  const { key, secret } = await gateway.issue()
  return { key, ...watchedClient(gateway, secret) }
}

function settled(keyId: string) {
  return eventually(
    () => gateway.readKey(keyId),
    ({ holds }) => Object.keys(holds).length === 0,
  )
}

async function collect<T = ChatCompletionChunk>(items: AsyncIterable<T>): Promise<T[]> {
  const all: T[] = []
  for await (const item of items) all.push(item)
  return all
}
