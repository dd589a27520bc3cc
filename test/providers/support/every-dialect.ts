import { afterAll } from '@jest/globals'
import { requireCatalog } from '../../../layers/catalog/parse-catalog.ts'
import type { ContractName } from '../../../layers/gateway/endpoints.ts'
import { openFor, openUpstream } from '../../support/stack.ts'
import { say } from '../../support/upstream.ts'
import { saying as sayAnthropic } from '../anthropic/anthropic-fixtures.ts'
import { type BedrockUpstream, pointSdkAt, startBedrock } from '../bedrock/bedrock-upstream.ts'
import { saying as sayResponse } from '../responses/responses-upstream.ts'

/** One, because the SDK keeps its client of a region. */
let amazon: Promise<BedrockUpstream> | undefined
afterAll(async () => (await amazon)?.[Symbol.asyncDispose]())

/** The output cap of every model here. */
export const CAP = 100

export const DIALECTS = ['chat', 'openai', 'responses', 'anthropic', 'bedrock', 'signed'] as const
export type Dialect = (typeof DIALECTS)[number]

const MESSAGES = [{ role: 'user', content: 'Hello' }]

/** The smallest request in each contract of chat. */
export const CONTRACT_BODIES = {
  chat: { path: '/v1/chat/completions', body: { messages: MESSAGES, max_tokens: CAP } },
  completions: { path: '/v1/completions', body: { prompt: 'Hello', max_tokens: CAP } },
  responses: { path: '/v1/responses', body: { input: 'Hello', max_output_tokens: CAP } },
  messages: { path: '/v1/messages', body: { messages: MESSAGES, max_tokens: CAP } },
} satisfies Partial<Record<ContractName, object>>
export type ChatContract = keyof typeof CONTRACT_BODIES

type Body = Record<string, unknown>

/** Every number in a request, however deep. */
export function numbersIn(value: unknown): number[] {
  if (typeof value === 'number') return [value]
  return typeof value === 'object' && value !== null ? Object.values(value).flatMap(numbersIn) : []
}

/** A gateway with a model for each dialect, and what its upstream was sent. */
export async function openDialects({ model = {}, provider = {} }: { model?: object; provider?: object } = {}) {
  amazon ??= startBedrock()
  const bedrock = await amazon
  pointSdkAt(bedrock.url)
  const [chat, responses, anthropic] = [
    await openUpstream(say('Hello')),
    await openUpstream(sayResponse('Hello')),
    await openUpstream(sayAnthropic('Hello')),
  ]
  const upstreams = { chat, openai: chat, responses, anthropic, bedrock, signed: responses }
  const providers: Record<Dialect, object> = {
    chat: { type: 'openai', baseUrl: chat.url, ...provider },
    openai: { type: 'openai', baseUrl: chat.url, capField: 'max_completion_tokens', ...provider },
    responses: { type: 'openai', contract: 'responses', baseUrl: responses.url, ...provider },
    anthropic: { type: 'anthropic', baseUrl: anthropic.url, ...provider },
    bedrock: { type: 'bedrock', region: 'eu-north-1', upstreamStream: true },
    signed: {
      type: 'openai',
      contract: 'responses',
      baseUrl: responses.url,
      auth: 'sigv4',
      region: 'eu-north-1',
      ...provider,
    },
  }
  const price = { input: '1', output: '2' }
  const common = { contextLength: 100_000, maxOutputTokens: CAP, price, ...model }
  const gateway = await openFor(
    requireCatalog({
      providers,
      models: DIALECTS.map((id) => ({ id, routes: [{ provider: id, model: 'm' }], ...common })),
    }),
  )
  const { secret } = await gateway.issue({ rpm: 60_000, credits: '1000' })

  async function ask(contract: ChatContract, dialect: Dialect, fields: object, at?: string) {
    const { requests } = upstreams[dialect]
    requests.length = 0
    const { path, body } = CONTRACT_BODIES[contract]
    const response = await fetch(gateway.baseUrl + (at ?? path), {
      method: 'POST',
      headers: { 'x-api-key': secret, 'Content-Type': 'application/json' },
      body: JSON.stringify({ model: dialect, ...body, ...fields }),
    })
    const answer = await response.text()
    const [request] = requests as readonly { readonly body: Body }[]
    const { status, headers } = response
    return { status, headers, answer, sent: request?.body, requestId: headers.get('x-request-id') }
  }
  return { gateway, upstreams, ask }
}
