import { expect, test } from '@jest/globals'
import { requireCatalog } from '../../../layers/catalog/parse-catalog.ts'
import type { MediaKind, ProviderEntry } from '../../../layers/gateway/domain/routing/catalog.ts'
import { CONTRACTS, type ContractName, HTTP_ROUTES, SCOPES } from '../../../layers/gateway/endpoints.ts'
import { probesOf } from '../../contracts/support/probe-coverage.ts'
import { message } from '../../providers/anthropic/anthropic-fixtures.ts'
import { pointSdkAt, say as sayByBedrock, startBedrock } from '../../providers/bedrock/bedrock-upstream.ts'
import { answering as answeringResponse, message as outputItem } from '../../providers/responses/responses-upstream.ts'
import { CONTRACT_BODIES } from '../../providers/support/every-dialect.ts'
import { Random } from '../../simulation/random.ts'
import { DIMENSIONS, embed } from '../../support/embeddings.ts'
import { someOf } from '../../support/some-of.ts'
import { closeAfterwards, openFor, openUpstream } from '../../support/stack.ts'
import { type Reply, status } from '../../support/upstream.ts'
import { completionTokens, MEDIA_TOKENS, mostBudget, type PromptBill, promptBill } from './greedy-bill.ts'
import { budgets, inAscii, randomRequest } from './random-request.ts'

// A provider that bills all that it can: a token for every byte it was sent, all that media may be, as much as its cap
// allows, at the dearest price. More requests: GREEDY_REQUESTS=20000 npm run -s jest -- greedy

const REQUESTS = Number(process.env.GREEDY_REQUESTS ?? 300)
const SEED = Number(process.env.GREEDY_SEED ?? 1)
/** Nanocredits: the price of cache writes is the dearest of a prompt's. */
const NANO_PER_PROMPT = 1_250n
const NANO_PER_COMPLETION = 2_000n
const NANO_PER_IMAGE = 5_000_000n

type Usage = { readonly prompt: number; readonly completion: number; readonly images: number }
type Body = Record<string, unknown>

/** The last bill of each provider, and how it writes it. */
let billed: (Usage & { readonly body: Body }) | undefined
/** The model that is asked. */
let model: string

/** The models that do not take all media. */
const TAKEN: Readonly<Record<string, readonly MediaKind[]>> = {
  openai: ['image', 'file'],
  dropping: ['image'],
  responses: ['audio', 'file'],
  anthropic: ['image', 'file'],
}

/** All that may be on a bill of the model that is asked. */
const promptOf = (body: Body): PromptBill => promptBill(body, TAKEN[model])

function bill(body: Body, capField: string): Usage {
  const { tokens: prompt, images } = promptOf(body)
  const usage = { prompt, images, completion: capField ? completionTokens(body, capField) : 0 }
  billed = { ...usage, body }
  return usage
}

type Answer = (body: Body) => Reply

const answering = (answer: Answer) => openUpstream((response, request) => answer(request.body)(response, request))

const chatWith =
  (capField: string): Answer =>
  (body) => {
    const { prompt, completion } = bill(body, body.prompt === undefined ? capField : 'max_tokens')
    const choice = { text: 'ok', message: { role: 'assistant', content: 'ok' }, finish_reason: 'length' }
    const choices = Array.from({ length: Number(body.n ?? 1) }, (_, index) => ({ index, ...choice }))
    const counts = { prompt_tokens: prompt, completion_tokens: completion, total_tokens: prompt + completion }
    const prompt_tokens_details = { cached_tokens: 0, cache_write_tokens: prompt }
    return status(200, { choices, usage: { ...counts, prompt_tokens_details } })
  }

const asResponse: Answer = (body) => {
  const { prompt, completion } = bill(body, 'max_output_tokens')
  const counts = { input_tokens: prompt, output_tokens: completion, total_tokens: prompt + completion }
  const input_tokens_details = { cached_tokens: 0, cache_write_tokens: prompt }
  return answeringResponse([outputItem('ok')], { usage: { ...counts, input_tokens_details } })
}

const asMessage: Answer = (body) => {
  const { prompt, completion } = bill(body, 'max_tokens')
  const usage = { input_tokens: 0, cache_creation_input_tokens: prompt, output_tokens: completion }
  return message([{ type: 'text', text: 'ok' }], 'max_tokens', usage)
}

const asVectors: Answer = (body) => {
  const { prompt } = bill(body, '')
  return embed({ usage: { prompt_tokens: prompt, total_tokens: prompt } })
}

const bedrock = closeAfterwards(await startBedrock())
bedrock.reply = (stream, request) => {
  const { body } = request
  const { tokens: prompt, images } = promptOf(body)
  const budget = mostBudget((body.additionalModelRequestFields ?? {}) as Body)
  const completion = Math.max(Number((body.inferenceConfig as Body).maxTokens), budget)
  billed = { prompt, images, completion, body }
  const counts = { inputTokens: 0, cacheWriteInputTokens: prompt, outputTokens: completion, totalTokens: prompt }
  return sayByBedrock('ok', 'max_tokens', counts)(stream, request)
}
pointSdkAt(bedrock.url)
const SIGNED = { auth: 'sigv4', region: 'eu-north-1' }
const [ollama, openai, responses, anthropic, vectors] = [
  await answering(chatWith('max_tokens')),
  await answering(chatWith('max_completion_tokens')),
  await answering(asResponse),
  await answering(asMessage),
  await answering(asVectors),
]
const price = { input: '1', output: '2', cachedInput: '0.5', cacheWrite: '1.25', image: '0.005' }
const common = { contextLength: 100_000_000, maxOutputTokens: 500, mediaTokens: MEDIA_TOKENS, price }
const embedding = {
  id: 'vectors',
  kind: 'embedding',
  contextLength: 1_000_000,
  dimensions: DIMENSIONS,
  price: { input: '1.25' },
}
const providers = {
  ollama: { type: 'openai', baseUrl: ollama.url },
  openai: { type: 'openai', baseUrl: openai.url, capField: 'max_completion_tokens' },
  dropping: { type: 'openai', baseUrl: ollama.url, unknownFields: 'drop' },
  responses: { type: 'openai', contract: 'responses', baseUrl: responses.url, unknownFields: 'drop' },
  anthropic: { type: 'anthropic', baseUrl: anthropic.url, unknownFields: 'drop' },
  bedrock: { type: 'bedrock', region: 'eu-north-1', unknownFields: 'drop' },
  signed: { type: 'openai', contract: 'responses', baseUrl: responses.url, unknownFields: 'drop', ...SIGNED },
  claude: { type: 'anthropic', baseUrl: anthropic.url, ...SIGNED },
} satisfies Record<ProviderEntry['type'] | 'ollama' | 'dropping' | 'responses' | 'signed' | 'claude', object>
const dialects: readonly string[] = Object.keys(providers)
const catalog = requireCatalog({
  providers: { ...providers, vectors: { type: 'openai', baseUrl: vectors.url, unknownFields: 'drop' } },
  models: [
    ...dialects.map((id) => ({
      id,
      ...common,
      ...(TAKEN[id] && { media: TAKEN[id] }),
      routes: [{ provider: id, model: 'm' }],
    })),
    { ...embedding, routes: [{ provider: 'vectors', model: 'm' }] },
  ],
})
const gateway = await openFor(catalog)
const { secret } = await gateway.issue({ scopes: SCOPES, credits: '100000', rpm: 60_000, dailyLimit: 1_000_000 })

async function askAnything(random: Random, contract: ContractName) {
  const asked = contract === 'embeddings' ? 'vectors' : random.pick(dialects)
  return ask(contract, randomRequest(random, contract, asked), random.chance(0.3))
}

async function ask(contract: ContractName, body: Body, isAscii = false) {
  model = String(body.model)
  billed = undefined
  const written = JSON.stringify(body)
  const path = HTTP_ROUTES.find(({ endpoint }) => endpoint.contract === contract)?.path
  const response = await gateway.post(secret, isAscii ? inAscii(written) : written, {}, path)
  const answer = await response.text()
  return { body, status: response.status, answer, requestId: response.headers.get('x-request-id') }
}

/** The bill that a charge does not cover; undefined if it does. */
async function shortBy(requestId: string | null) {
  const { prompt = 0, completion = 0, images = 0, body } = billed ?? {}
  const { cost } = await gateway.readRow(requestId)
  const due =
    BigInt(prompt) * NANO_PER_PROMPT + BigInt(completion) * NANO_PER_COMPLETION + BigInt(images) * NANO_PER_IMAGE
  return cost < due ? { cost, due, sent: JSON.stringify(body).slice(0, 3_000) } : undefined
}

test('a budget above the cap is refused, or the charge covers it, in every contract and dialect', async () => {
  for (const contract of ['chat', 'completions', 'responses', 'messages'] as const) {
    for (const fields of budgets(1_000_000)) {
      for (const model of dialects) {
        const { status, requestId } = await ask(contract, { ...CONTRACT_BODIES[contract].body, ...fields, model })
        const place = { contract, model, fields }
        expect({ ...place, status, short: await shortBy(requestId) }).toEqual({
          ...place,
          status: billed ? 200 : 400,
          short: undefined,
        })
      }
    }
  }
})

const FORMATS = ['chat', 'responses', 'messages'] as const
const PROBES = FORMATS.flatMap((format) =>
  [true, false].flatMap((isFull) => probesOf(format, isFull).map((probe) => ({ ...probe, format }))),
)
const TRIED = someOf(PROBES, 5)

test('the charge covers the bill of every name in the makers’ definitions, whichever provider answers', async () => {
  let answered = 0
  for (const { format, group, name, request } of TRIED) {
    for (const model of dialects) {
      const { status, requestId } = await ask(format, {
        ...CONTRACT_BODIES[format].body,
        ...request,
        model,
        stream: false,
      })
      if (billed) answered += 1
      const place = { format, group, name, model }
      const short = billed && (await shortBy(requestId))
      expect({ ...place, status, short }).toEqual({ ...place, status: billed ? 200 : 400, short: undefined })
    }
  }
  expect(answered).toBeGreaterThan(2 * TRIED.length)
}, 120_000)

test(
  `each of ${REQUESTS} random requests is refused, or its charge covers all that a greedy provider bills`,
  async () => {
    const random = new Random(SEED)
    const accepted = new Map<string, number>()
    for (let i = 0; i < REQUESTS; i++) {
      const contract = random.pick(CONTRACTS)
      const { body, status, answer, requestId } = await askAnything(random, contract)
      const place = { i, contract, model, body: JSON.stringify(body).slice(0, 3_000), answer: answer.slice(0, 500) }
      if (!billed) {
        expect({ ...place, status }).toEqual({ ...place, status: 400 })
        continue
      }
      const short = await shortBy(requestId)
      expect({ ...place, status, short }).toEqual({ ...place, status: 200, short: undefined })
      accepted.set(`${contract} ${model}`, (accepted.get(`${contract} ${model}`) ?? 0) + 1)
    }
    // Nearly every contract was answered by every dialect.
    if (REQUESTS >= 600) expect(accepted.size).toBeGreaterThanOrEqual(3 * dialects.length)
  },
  60_000 + REQUESTS * 100,
)
