import { beforeAll, expect, test } from '@jest/globals'
import { createOpenRouter } from '@openrouter/ai-sdk-provider'
import { generateText, Output, streamText } from 'ai'
import { z } from 'zod'
import type { TestGateway } from '../support/gateway.ts'
import { openBoth } from '../support/stack.ts'
import { say, type Upstream } from '../support/upstream.ts'

let upstream: Upstream
let gateway: TestGateway

beforeAll(async () => {
  ;({ upstream, gateway } = await openBoth())
})

/** The charge as the OpenRouter provider reports it to its caller. */
const CHARGE = { openrouter: { usage: { promptTokens: 10, completionTokens: 5, cost: 0.00002 } } }

test('the OpenRouter provider of the Vercel AI SDK generates a text, and reads its cost as a number', async () => {
  upstream.reply = say('Hello there')
  const { text, providerMetadata } = await generateText({ model: await issueModel(), prompt: 'Hello' })
  expect(text).toBe('Hello there')
  expect(providerMetadata).toMatchObject(CHARGE)
})

test('the OpenRouter provider of the Vercel AI SDK generates an object', async () => {
  upstream.reply = say('{"city":"Ulm"}')
  const { output } = await generateText({
    model: await issueModel(),
    prompt: 'Which city?',
    output: Output.object({ schema: z.object({ city: z.string() }) }),
  })
  expect(output).toEqual({ city: 'Ulm' })
})

test('the OpenRouter provider of the Vercel AI SDK streams a text, and reads its cost as a number', async () => {
  upstream.reply = say('Hello there')
  const result = streamText({ model: await issueModel(), prompt: 'Hello' })
  expect(await result.text).toBe('Hello there')
  expect(await result.providerMetadata).toMatchObject(CHARGE)
})

async function issueModel() {
  const { secret } = await gateway.issue()
  return createOpenRouter({ baseURL: `${gateway.baseUrl}/v1`, apiKey: secret, compatibility: 'strict' })('test-model')
}
