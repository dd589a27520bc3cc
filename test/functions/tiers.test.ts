import { beforeEach, describe, expect, test } from '@jest/globals'
import { usageRecord } from '../../layers/gateway/wire/rows/usage-record.ts'
import { catalogFor, HELLO } from '../support/gateway.ts'
import { openBoth, openFor } from '../support/stack.ts'
import { say } from '../support/upstream.ts'

const PRICE = {
  input: '5',
  output: '30',
  cachedInput: '0.5',
  tiers: [{ above: 1_000, input: '10', output: '45', cachedInput: '1' }],
}
const COST = { input: '4', output: '20', tiers: [{ above: 2_000, input: '9', output: '40' }] }
const routes = [{ provider: 'up', model: 'upstream-model', cost: COST }]

const { upstream, gateway } = await openBoth({ model: { contextLength: 10_000, price: PRICE, routes } })

const cachePrice = { input: '1', output: '2', cacheWrite: '1.25', cacheWrite1h: '2' }
const cached = await openFor(catalogFor(upstream.url, { price: cachePrice }))

const words = (count: number) => ({ messages: [{ role: 'user', content: 'a'.repeat(count) }] })

async function ask(body: object = {}, at = gateway) {
  const asked = await at.ask({ max_tokens: 10, ...body })
  expect(asked.status).toBe(200)
  return asked
}

describe('a model whose price has a tier', () => {
  test.each([
    [1_000, 1_000n * 5_000n + 5n * 30_000n, undefined],
    [1_001, 1_001n * 10_000n + 5n * 45_000n, 1_000],
  ])('charges a prompt of %i tokens by its tier, which its row keeps', async (prompt_tokens, cost, above) => {
    upstream.reply = say('Hello', { prompt_tokens, completion_tokens: 5 })
    const { row } = await ask(words(2_000))
    expect(row).toMatchObject({ cost, promptTokens: prompt_tokens })
    expect(row.price?.above).toBe(above)
    expect(row.usageCapped).toBeUndefined()
    expect((usageRecord(row).pricing as { above?: number }).above).toBe(above)
  })

  test('holds a prompt at the dearest tier that its bound reaches, and a short one at the base price', async () => {
    upstream.reply = say('Hello', { prompt_tokens: 5, completion_tokens: 5 })
    const { row: short } = await ask(words(100))
    expect(Number(short.hold - 10n * 30_000n) / 5_000).toBeLessThan(1_000)
    const { row: long } = await ask(words(2_000))
    const tokens = Number(long.hold - 10n * 45_000n) / 10_000
    expect([Number.isInteger(tokens), tokens > 2_000, tokens < 3_000]).toEqual([true, true, true])
  })

  test('costs us by the tier of its route, whose borders are its own', async () => {
    upstream.reply = say('Hello', { prompt_tokens: 2_000, completion_tokens: 5 })
    expect((await ask(words(3_000))).row.upstreamCost).toBe(2_000n * 4_000n + 5n * 20_000n)
    upstream.reply = say('Hello', { prompt_tokens: 2_001, completion_tokens: 5 })
    expect((await ask(words(3_000))).row.upstreamCost).toBe(2_001n * 9_000n + 5n * 40_000n)
  })

  test('is listed with its tiers, per token', async () => {
    const { secret } = await gateway.issue()
    const { data } = (await (await gateway.get(secret, '/v1/models')).json()) as { data: { pricing: object }[] }
    expect(data[0]?.pricing).toEqual({
      prompt: '0.000005',
      completion: '0.00003',
      input_cache_read: '0.0000005',
      tiers: [{ above: 1_000, prompt: '0.00001', completion: '0.000045', input_cache_read: '0.000001' }],
    })
  })
})

describe('cache writes that have a price', () => {
  const wrote = (details: object) =>
    say('Hello', { prompt_tokens: 100, completion_tokens: 1, prompt_tokens_details: details })
  const MARKED = {
    messages: [{ role: 'user', content: [{ type: 'text', text: 'Hello', cache_control: { type: 'ephemeral' } }] }],
  }

  test('are held for in every request, and charged, because providers write unasked', async () => {
    upstream.reply = wrote({ cache_write_tokens: 100 })
    const { row } = await ask(words(1_000), cached)
    expect(row).toMatchObject({ cost: 100n * 1_250n + 2_000n, cacheWriteTokens: 100 })
    expect(row.cacheWrite1hTokens).toBeUndefined()
    expect(row.hold).toBeGreaterThan(1_000n * 2_000n)
    upstream.reply = wrote({ cache_write_tokens: 10 ** 6 })
    expect((await ask({}, cached)).row).toMatchObject({ usageCapped: true })
  })

  test('are charged at the dearest life that was allowed if nobody says how long they stay', async () => {
    upstream.reply = wrote({ cache_write_tokens: 60 })
    const { row } = await ask(MARKED, cached)
    expect(row).toMatchObject({ cost: 40n * 1_000n + 60n * 2_000n + 2_000n, cacheWrite1hTokens: 60 })
  })

  test('are charged by the life that the upstream tells', async () => {
    upstream.reply = wrote({ cache_write_tokens: 60, cache_write_1h_tokens: 20 })
    const { row } = await ask(MARKED, cached)
    expect(row.cost).toBe(40n * 1_000n + 40n * 1_250n + 20n * 2_000n + 2_000n)
    expect(usageRecord(row)).toMatchObject({ cache_write_tokens: 60, cache_write_1h_tokens: 20 })
  })
})

describe('a cost that the provider states', () => {
  const usage = {
    prompt_tokens: 10,
    completion_tokens: 5,
    total_tokens: 15,
    cost: 0.000123,
    cost_details: { upstream_inference_cost: 0.000123 },
    prompt_tokens_details: { cached_tokens: 1, audio_tokens: 0, cost: 0.000123 },
    completion_tokens_details: { reasoning_tokens: 1, upstream_cost: 0.000123 },
  }

  beforeEach(() => {
    upstream.reply = say('Hello', usage)
  })

  test('is the cost to us, and the row says whose word it is', async () => {
    const { row } = await ask()
    expect(row).toMatchObject({ upstreamCost: 123_000n, upstreamCostSource: 'provider' })
    upstream.reply = say('Hello', { ...usage, cost: -1 })
    const without = (await ask()).row
    expect(without.upstreamCost).toBe(10n * 4_000n + 5n * 20_000n)
    expect(without.upstreamCostSource).toBeUndefined()
  })

  test('is known where the route has no cost in the catalog', async () => {
    const own = await openFor(catalogFor(upstream.url))
    expect((await ask({}, own)).row).toMatchObject({ upstreamCost: 123_000n, upstreamCostSource: 'provider' })
  })

  test.each([
    ['/v1/chat/completions', { messages: HELLO.messages }],
    ['/v1/completions', { prompt: 'Hello' }],
    ['/v1/responses', { input: 'Hello' }],
    ['/v1/messages', { messages: HELLO.messages, max_tokens: 10 }],
  ])('is told to no caller of %s, whole or streamed', async (path, body) => {
    for (const more of [{}, { stream: true }, { stream: true, stream_options: { include_usage: true } }]) {
      if (!path.endsWith('completions') && 'stream_options' in more) continue
      const { status, text } = await gateway.ask({ model: 'test-model', ...body, ...more }, { path })
      expect([status, text.includes('Hello')]).toEqual([200, true])
      expect(text).not.toMatch(/0\.000123|upstream_|cost_details/)
    }
  })
})

describe('a prompt that an upstream counts above the context', () => {
  const exceeded = (requestId: string) => gateway.logged().filter((line) => line.requestId === requestId && line.route)

  test('is told by a metric of its route', async () => {
    upstream.reply = say('Hello', { prompt_tokens: 10_001, completion_tokens: 5 })
    const { row } = await ask()
    expect(exceeded(row.requestId)).toEqual([
      expect.objectContaining({
        event: 'context_exceeded',
        route: 'up/upstream-model',
        promptTokens: 10_001,
        contextLength: 10_000,
        ContextExceeded: 1,
      }),
    ])
  })

  test('is told only above it, and not for an estimate', async () => {
    upstream.reply = say('Hello', { prompt_tokens: 10_000, completion_tokens: 5 })
    expect(exceeded((await ask()).row.requestId)).toEqual([])
    upstream.reply = say('Hello', null)
    expect(exceeded((await ask()).row.requestId)).toEqual([])
  })
})
