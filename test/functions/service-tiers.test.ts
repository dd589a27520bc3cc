import { describe, expect, test } from '@jest/globals'
import { checkRow } from '../../layers/admin/audit/add-rows.ts'
import { explainCharge } from '../../layers/admin/explain/explain-charge.ts'
import { parseCatalog } from '../../layers/catalog/parse-catalog.ts'
import { expectedCost } from '../../layers/gateway/domain/rows/charges.ts'
import { serviceTierOf } from '../../layers/gateway/providers/http-upstream.ts'
import { usageRecord } from '../../layers/gateway/wire/rows/usage-record.ts'
import { ending, message, start, stream, textBlock } from '../providers/anthropic/anthropic-fixtures.ts'
import { answering, message as item } from '../providers/responses/responses-upstream.ts'
import {
  type ChatContract,
  CONTRACT_BODIES,
  DIALECTS,
  type Dialect,
  openDialects,
} from '../providers/support/every-dialect.ts'
import { catalogFor } from '../support/gateway.ts'
import { chunk, DONE, type Reply, sse, status, USAGE, usageChunk } from '../support/upstream.ts'

type Gateway = Awaited<ReturnType<typeof openDialects>>

const PRICE = { input: '1', output: '2', request: '0.000001' }
const PRIORITY = { input: '3', output: '7' }
const priced = { price: { ...PRICE, serviceTiers: { priority: PRIORITY } } }

const FAST = { priority: PRIORITY, fast: { input: '9', output: '18' } }
const FLEXIBLE = { priority: PRIORITY, flex: { input: '0.5', output: '1' } }

const [plain, tiered, flex, fast, flexible] = await Promise.all([
  openDialects({ model: { price: PRICE } }),
  openDialects({ model: priced }),
  openDialects({ provider: { serviceTier: 'flex' } }),
  openDialects({ model: { price: { ...PRICE, serviceTiers: FAST } } }),
  openDialects({ model: { price: { ...PRICE, serviceTiers: FLEXIBLE } } }),
])

describe('the tier that is asked for', () => {
  test.each([
    ['openai', 'https://api.openai.com/v1', undefined, 'default'],
    ['openai', 'https://eu.api.openai.com/v1', undefined, 'default'],
    ['openai', 'https://api.openai.com.evil.example/v1', undefined, undefined],
    ['openai', 'https://openrouter.ai/api/v1', undefined, undefined],
    ['openai', 'https://api.openai.com/v1', 'flex', 'flex'],
    ['anthropic', 'https://api.anthropic.com/v1', undefined, 'standard_only'],
    ['anthropic', 'https://proxy.example/v1', undefined, undefined],
  ] as const)('%s at %s, with %s in the catalog, is %s', (type, baseUrl, serviceTier, tier) => {
    expect(serviceTierOf({ type, baseUrl, serviceTier })).toBe(tier)
  })

  const WORDS: Readonly<Record<ChatContract, readonly (string | undefined)[]>> = {
    chat: [undefined, 'auto', 'default', 'on_demand'],
    responses: [undefined, 'auto', 'default', 'on_demand'],
    messages: [undefined, 'auto', 'standard_only'],
    completions: [undefined],
  }
  const CASES = (Object.keys(CONTRACT_BODIES) as ChatContract[]).flatMap((contract) =>
    WORDS[contract].map((word) => [contract, word] as const),
  )

  test.each(CASES)(
    'is the provider’s, and never auto, whatever list-price tier the caller names: %s, %s',
    async (contract, word) => {
      for (const dialect of DIALECTS) {
        const { sent } = await flex.ask(contract, dialect, { service_tier: word })
        expect([dialect, sent?.service_tier]).toEqual([dialect, dialect === 'bedrock' ? undefined : 'flex'])
        const { sent: unnamed } = await plain.ask(contract, dialect, { service_tier: word })
        expect([dialect, unnamed?.service_tier === 'auto', unnamed === undefined]).toEqual([dialect, false, false])
      }
    },
  )

  test('is the caller’s if the operator allows it', async () => {
    const { ask } = await openDialects({
      provider: { serviceTier: 'default' },
      model: { allowFields: ['service_tier'] },
    })
    for (const [contract, dialect] of [
      ['chat', 'chat'],
      ['responses', 'responses'],
      ['completions', 'openai'],
      ['messages', 'anthropic'],
    ] as const) {
      const { sent } = await ask(contract, dialect, { service_tier: 'priority' })
      expect([contract, sent?.service_tier]).toEqual([contract, 'priority'])
    }
  })

  test('passes where the model has a price for it, and is left out and reported elsewhere', async () => {
    const CASES = [
      ['chat', 'chat', { service_tier: 'priority' }],
      ['chat', 'responses', { service_tier: 'priority' }],
      ['responses', 'responses', { service_tier: 'priority' }],
      ['responses', 'chat', { service_tier: 'priority' }],
      ['messages', 'anthropic', { service_tier: 'auto' }],
      ['messages', 'anthropic', { speed: 'fast' }],
    ] as const
    for (const [contract, dialect, fields] of CASES) {
      const [[name, value]] = Object.entries(fields) as [[string, string]]
      const { sent, headers } = await fast.ask(contract, dialect, fields)
      expect([contract, dialect, sent?.[name]]).toEqual([contract, dialect, value])
      expect(headers.get('x-svc-dropped-fields')).toBeNull()
      const unpriced = await plain.ask(contract, dialect, fields)
      expect([contract, dialect, unpriced.status, unpriced.sent?.[name]]).toEqual([contract, dialect, 200, undefined])
      expect(unpriced.headers.get('x-svc-dropped-fields')).toBe(name)
    }
    expect(fast.upstreams.anthropic.requests.at(-1)?.headers['anthropic-beta']).toBe('fast-mode-2026-02-01')
    for (const [contract, dialect, fields] of [
      ['chat', 'bedrock', { service_tier: 'priority' }],
      ['chat', 'anthropic', { service_tier: 'priority' }],
      ['messages', 'chat', { speed: 'fast' }],
    ] as const) {
      const { status, headers } = await fast.ask(contract, dialect, fields)
      expect([status, headers.get('x-svc-dropped-fields')]).toEqual([200, Object.keys(fields)[0]])
    }
  })

  test('that the answer names otherwise, or not at all, is charged so that the bill is covered', async () => {
    const [reply] = ANSWERS.filter(([name]) => name === 'a completion').map(([, , , one]) => one) as [typeof chat]
    for (const [asked, served, charged] of [
      // OpenAI has two names for one tier.
      ['priority', 'fast', { serviceTier: 'priority', cost: OWN }],
      ['priority', 'priority', { serviceTier: 'priority', cost: OWN }],
      ['priority', undefined, { serviceTier: 'priority', cost: OWN }],
      ['priority', 'default', { cost: LIST }],
      ['flex', undefined, { cost: LIST }],
      ['flex', 'flex', { serviceTier: 'flex', cost: 10n * 500n + 5n * 1_000n + 1_000n }],
    ] as const) {
      flexible.upstreams.chat.reply = reply(served)
      const { requestId, answer } = await flexible.ask('chat', 'chat', { service_tier: asked })
      const row = await flexible.gateway.readRow(requestId)
      expect({ asked, served, ...row }).toMatchObject({ asked, served, ...charged })
      const told = 'serviceTier' in charged ? charged.serviceTier : undefined
      expect(JSON.parse(answer).service_tier).toBe(told)
    }
  })

  test('is said by the answer of each format', async () => {
    fast.upstreams.responses.reply = answering([item('Hi')], { service_tier: 'priority' })
    const response = await fast.ask('responses', 'responses', { service_tier: 'priority' })
    expect(JSON.parse(response.answer).service_tier).toBe('priority')
    fast.upstreams.anthropic.reply = message([{ type: 'text', text: 'Hi' }], 'end_turn', { ...COUNTS, speed: 'fast' })
    const { answer, requestId } = await fast.ask('messages', 'anthropic', { speed: 'fast' })
    expect(JSON.parse(answer).usage).toMatchObject({ speed: 'fast', service_tier: 'standard' })
    expect(await fast.gateway.readRow(requestId)).toMatchObject({
      serviceTier: 'fast',
      cost: 10n * 9_000n + 5n * 18_000n + 1_000n,
    })
  })

  test('whose cost at a route is above its price takes that loss from the key first', async () => {
    const cost = { ...PRICE, serviceTiers: { priority: { input: '30', output: '70' } } }
    const { ask, gateway } = await openDialects({
      model: { ...priced, routes: [{ provider: 'chat', model: 'm', cost }] },
    })
    const { secret } = await gateway.issue({ dailyLoss: 1n })
    const asked = (fields: object) => gateway.ask({ model: 'chat', max_tokens: 100, ...fields }, { secret })
    expect((await asked({})).status).toBe(200)
    expect((await asked({ service_tier: 'priority' })).error.code).toBe('daily_loss_exceeded')
    expect((await ask('chat', 'chat', { service_tier: 'priority' })).status).toBe(200)
  })

  test('is not sent where tokens are counted, which has no such field', async () => {
    const { ask, upstreams } = await openDialects({ provider: { serviceTier: 'standard_only' } })
    upstreams.anthropic.reply = status(200, { input_tokens: 5 })
    const asked = { max_tokens: undefined, service_tier: 'auto' }
    const told = await ask('messages', 'anthropic', asked, '/v1/messages/count_tokens')
    expect([told.status, told.sent]).toEqual([200, expect.not.objectContaining({ service_tier: expect.anything() })])
  })
})

const chat = (service_tier: unknown) =>
  status(200, {
    choices: [{ index: 0, message: { content: 'Hi' }, finish_reason: 'stop' }],
    usage: USAGE,
    service_tier,
  })
const inChunks = (tier: object) =>
  sse([chunk({ content: 'Hi' }, null, tier), chunk({}, 'stop'), usageChunk(USAGE), DONE])
const COUNTS = { input_tokens: 10, output_tokens: 5 }

/** Answers of 10 and 5 tokens that say so in each way in which a provider can. */
const ANSWERS: readonly (readonly [string, ChatContract, Dialect, (tier: unknown) => Reply])[] = [
  ['a completion', 'chat', 'chat', chat],
  ['chunks', 'chat', 'chat', (service_tier) => inChunks({ service_tier })],
  [
    'a text',
    'completions',
    'openai',
    (service_tier) =>
      status(200, { choices: [{ index: 0, text: 'Hi', finish_reason: 'stop' }], usage: USAGE, service_tier }),
  ],
  [
    'a response',
    'responses',
    'responses',
    (service_tier) => answering([item('Hi')], { usage: { ...COUNTS, total_tokens: 15 }, service_tier }),
  ],
  [
    'a message',
    'messages',
    'anthropic',
    (service_tier) => message([{ type: 'text', text: 'Hi' }], 'end_turn', { ...COUNTS, service_tier }),
  ],
  [
    'a streamed message',
    'chat',
    'anthropic',
    (service_tier) =>
      stream(start({ ...COUNTS, service_tier }), ...textBlock(0, 'Hi'), ...ending('end_turn', { output_tokens: 5 })),
  ],
]

async function billed(
  { ask, upstreams, gateway }: Gateway,
  [, contract, dialect, reply]: (typeof ANSWERS)[number],
  tier: unknown,
) {
  const upstream = upstreams[dialect] as { reply: Reply }
  const before = upstream.reply
  upstream.reply = reply(tier)
  const { status: code, answer, requestId } = await ask(contract, dialect, {})
  upstream.reply = before
  expect([code, answer]).toEqual([200, expect.any(String)])
  return gateway.readRow(requestId)
}

const LIST = 10n * 1_000n + 5n * 2_000n + 1_000n
const OWN = 10n * 3_000n + 5n * 7_000n + 1_000n
const shown = (row: Parameters<typeof explainCharge>[0]) => explainCharge(row).map((entry) => entry.join(' '))

describe.each(ANSWERS.map((answer) => [answer[0], answer] as const))(
  'the tier that was served, told by %s',
  (_, answer) => {
    test('is charged by its own price, which the row keeps, and an audit agrees', async () => {
      const row = await billed(tiered, answer, 'priority')
      expect(row).toMatchObject({ serviceTier: 'priority', cost: OWN, price: { ...PRIORITY, serviceTier: 'priority' } })
      expect([checkRow(row), expectedCost(row), row.hold >= row.cost]).toEqual([[], OWN, true])
      expect(shown(row)).toContain('served tier priority, at its own price')
      expect(JSON.stringify(usageRecord(row))).not.toContain('priority')
    })

    test('is charged at the list price and told if it has none', async () => {
      const row = await billed(plain, answer, 'priority')
      expect(row).toMatchObject({ serviceTier: 'priority', cost: LIST })
      expect([checkRow(row), expectedCost(row)]).toEqual([[], LIST])
      expect(shown(row)).toContain(
        'served tier priority, for which the catalog has no price: it was charged at the list price',
      )
    })

    const UNTOLD = [
      'default',
      'standard',
      'auto',
      'on_demand',
      null,
      undefined,
      7,
      {},
      '',
      'x'.repeat(33),
      '\u202epriority',
    ]
    test.each(UNTOLD)('is nothing to tell if it is %j', async (tier) => {
      const row = await billed(tiered, answer, tier)
      expect([row.serviceTier, row.cost, row.price?.serviceTier]).toEqual([undefined, LIST, undefined])
    })
  },
)

test('a tier that is told without counts is charged by its own price, too', async () => {
  const reply = (service_tier: unknown) => sse([chunk({ content: 'Hi' }, 'stop', { service_tier }), DONE])
  const row = await billed(tiered, ['', 'chat', 'chat', reply], 'Priority')
  expect(row).toMatchObject({ usageSource: 'estimate', serviceTier: 'priority', price: PRIORITY })
})

test('a hold covers the dearest tier of the catalog', async () => {
  const answer = ANSWERS[0] as (typeof ANSWERS)[number]
  const [{ hold: more }, { hold: less }] = [await billed(tiered, answer, 'priority'), await billed(plain, answer, null)]
  expect(more - 1_000n).toBeGreaterThanOrEqual(3n * (less - 1_000n))
})

test('the cost to us is by the tier that was served, if the route’s cost has it', async () => {
  const cost = { input: '0.5', output: '1', serviceTiers: { priority: { input: '2', output: '4' } } }
  const { gateway, upstreams, ask } = await openDialects({
    model: { ...priced, routes: [{ provider: 'chat', model: 'm', cost }] },
  })
  upstreams.chat.reply = chat('priority')
  const { requestId } = await ask('chat', 'chat', {})
  expect((await gateway.readRow(requestId)).upstreamCost).toBe(10n * 2_000n + 5n * 4_000n)
  upstreams.chat.reply = chat('flex')
  const flex = await gateway.readRow((await ask('chat', 'chat', {})).requestId)
  expect(flex).toMatchObject({ upstreamCost: 10n * 500n + 5n * 1_000n, serviceTier: 'flex', cost: LIST })
})

test.each([
  [{ default: PRIORITY }, 'must be another tier than that of the list price'],
  [{ Priority: PRIORITY }, 'must be at most 32 lower-case letters and _'],
  [{ constructor: PRIORITY }, 'must be another name: the table cannot keep this one'],
  [{ priority: { input: '1' } }, 'output'],
])('a catalog with the tiers %j is refused', (serviceTiers, fault) => {
  const { providers, models } = catalogFor('http://127.0.0.1:1', {})
  const [model] = models
  const parsed = parseCatalog({ providers, models: [{ ...model, price: { ...PRICE, serviceTiers } }] })
  expect(JSON.stringify(parsed)).toContain(fault)
  expect(parsed).toHaveProperty('faults')
})
