import { expect, test } from '@jest/globals'
import { costFields, statedCost } from '../../layers/gateway/wire/money/usage-counts.ts'

test.each<[string, object, bigint]>([
  ['OpenRouter', { cost: 0.00014295 }, 142_950n],
  ['OpenRouter, below a nanocredit', { cost: 1.4e-10 }, 1n],
  ['OpenRouter, free', { cost: 0 }, 0n],
  ['Perplexity', { cost: { input_tokens_cost: 1, total_cost: 0.0061 } }, 6_100_000n],
  ['DeepInfra', { estimated_cost: 3.3e-7 }, 330n],
  ['xAI', { cost_in_usd_ticks: 37_756_000 }, 3_775_600n],
  ['xAI, a part of a nanocredit', { cost_in_usd_ticks: 11 }, 2n],
  ['a decimal text', { cost: '0.0000000011' }, 2n],
  ['the most', { cost: 1_000_000 }, 10n ** 15n],
])('the cost that a provider states is read in nanocredits, rounded up: %s', (_, usage, nano) => {
  expect(statedCost(usage as Record<string, unknown>)).toBe(nano)
})

test('a sum that binary numbers do not have is not rounded up by their error', () => {
  for (let nano = 1n; nano < 10_000_000_000n; nano = nano * 3n + 1n) {
    expect(statedCost(JSON.parse(`{"cost":${Number(nano) / 1e9}}`))).toBe(nano)
  }
})

test.each<[string, unknown]>([
  ['nothing', undefined],
  ['null', null],
  ['a negative cost', -1],
  ['no number', Number.NaN],
  ['an endless cost', Number.POSITIVE_INFINITY],
  ['an absurd cost', 1e300],
  ['more than a million credits', 1_000_000.1],
  ['a flag', true],
  ['a list', [1]],
  ['an object without a total', { total: 1 }],
  ['an object in an object', { total_cost: { total_cost: 1 } }],
  ['a word', 'free'],
  ['an empty text', ''],
  ['a text with a sign', '-0.1'],
  ['a text in another notation', '0x10'],
  ['a text that does not end', '1'.repeat(10_000)],
])('a provider that states %s as its cost states none', (_, cost) => {
  for (const usage of [{ cost }, { cost: { total_cost: cost } }, { estimated_cost: cost }]) {
    expect(statedCost(usage)).toBeUndefined()
  }
})

test('a fee for a key of one’s own is not the cost of an answer', () => {
  const usage = { cost: 0.00001, is_byok: true, cost_details: { upstream_inference_cost: 1 } }
  expect(statedCost(usage)).toBeUndefined()
  expect(statedCost(costFields({ ...usage, input_tokens: 3 }))).toBeUndefined()
})

test('a dialect that puts usage into other words keeps the cost, and nothing else', () => {
  const usage = { input_tokens: 1, cost: 0.5, cost_in_usd_ticks: null }
  expect(costFields(usage)).toEqual({ cost: 0.5 })
})
