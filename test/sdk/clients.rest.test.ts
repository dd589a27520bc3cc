import { createOpenAICompatible } from '@ai-sdk/openai-compatible'
import { expect, test } from '@jest/globals'
import { ChatOpenAI } from '@langchain/openai'
import { createOpenRouter } from '@openrouter/ai-sdk-provider'
import { generateText, type LanguageModel, Output, streamText } from 'ai'
import { z } from 'zod'
import { openBoth } from '../support/stack.ts'
import { chunk, say } from '../support/upstream.ts'
import { heldBack } from './support/held-back.ts'

const { upstream, gateway } = await openBoth()

type Access = { readonly baseURL: string; readonly apiKey: string }
type Answer = { readonly text: unknown; readonly usage: unknown }
type Client = {
  ask(access: Access): Promise<Answer>
  stream(access: Access): Promise<Answer>
  /** The tokens, and the cost if it tells it, in its own words. */
  readonly usage: object
}

const compatible = (access: Access) =>
  createOpenAICompatible({ name: 'waybill', includeUsage: true, ...access })('test-model')
const openrouter = (access: Access) => createOpenRouter({ ...access, compatibility: 'strict' })('test-model')
const langchain = ({ baseURL, apiKey }: Access) =>
  new ChatOpenAI({ model: 'test-model', apiKey, configuration: { baseURL } })

/** A provider of the Vercel AI SDK. */
const vercel = (model: (access: Access) => LanguageModel, usage: object): Client => ({
  usage,
  async ask(access) {
    const { text, usage, providerMetadata } = await generateText({ model: model(access), prompt: 'Hello' })
    return { text, usage: { ...usage, ...providerMetadata?.openrouter } }
  },
  async stream(access) {
    const { text, usage, providerMetadata } = streamText({ model: model(access), prompt: 'Hello' })
    return { text: await text, usage: { ...(await usage), ...(await providerMetadata)?.openrouter } }
  },
})

const CLIENTS: Readonly<Record<string, Client>> = {
  LangChain: {
    usage: { input_tokens: 10, output_tokens: 5, total_tokens: 15 },
    async ask(access) {
      const { content, usage_metadata } = await langchain(access).invoke('Hello')
      return { text: content, usage: usage_metadata }
    },
    async stream(access) {
      const pieces = await Array.fromAsync(await langchain(access).stream('Hello'))
      return {
        text: pieces.map(({ content }) => content).join(''),
        usage: pieces.find(({ usage_metadata }) => usage_metadata)?.usage_metadata,
      }
    },
  },
  'the Vercel AI SDK': vercel(compatible, { inputTokens: 10, outputTokens: 5, totalTokens: 15 }),
  'the OpenRouter provider of the Vercel AI SDK': vercel(openrouter, {
    usage: { promptTokens: 10, completionTokens: 5, cost: 0.00002 },
  }),
}

async function access(settings = {}) {
  const { key, secret } = await gateway.issue(settings)
  return { key, given: { baseURL: `${gateway.baseUrl}/v1`, apiKey: secret } }
}

test.each(Object.entries(CLIENTS))('%s gets an answer and its usage, whole and streamed', async (_, client) => {
  upstream.reply = say('Hello there')
  for (const how of ['ask', 'stream'] as const) {
    const { text, usage } = await client[how]((await access()).given)
    expect({ text, usage }).toMatchObject({ text: 'Hello there', usage: client.usage })
  }
})

test.each(Object.entries(CLIENTS))('%s does not repeat a call that the balance does not cover', async (_, client) => {
  const { key, given } = await access({ credits: '0' })
  const error = await client.ask(given).catch((reason) => reason)
  expect([error.status ?? error.statusCode, error.message]).toEqual([
    402,
    expect.stringContaining('The balance is 0 credits'),
  ])
  expect(gateway.logLines.filter((line) => line.includes(key.id))).toHaveLength(1)
})

test('the OpenRouter provider of the Vercel AI SDK generates an object', async () => {
  upstream.reply = say('{"city":"Ulm"}')
  const output = Output.object({ schema: z.object({ city: z.string() }) })
  const { given } = await access()
  expect((await generateText({ model: openrouter(given), prompt: 'Which?', output })).output).toEqual({ city: 'Ulm' })
})

test('the Vercel AI SDK gets an error when a stream breaks in the middle', async () => {
  const { answer, reply } = heldBack([chunk({ role: 'assistant', content: 'Hel' })], 'broken')
  upstream.reply = reply
  const errors: unknown[] = []
  const onError = ({ error }: { error: unknown }) => void errors.push(error)
  const { given } = await access()
  const { fullStream } = streamText({ model: compatible(given), prompt: 'Hello', onError })
  const received: string[] = []
  for await (const part of fullStream) {
    received.push(part.type)
    if (part.type === 'text-delta') answer()
  }
  expect(errors).toHaveLength(1)
  expect(received).toContain('error')
})
