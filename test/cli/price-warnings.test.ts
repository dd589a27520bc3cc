import { expect, test } from '@jest/globals'
import { priceWarnings } from '../../layers/admin/catalog/price-warnings.ts'
import { requireCatalog } from '../../layers/catalog/parse-catalog.ts'
import { lossPrice, type PriceStrings, parsePrice } from '../../layers/gateway/domain/money/price.ts'

const isAbove = (...prices: Parameters<typeof lossPrice>) => lossPrice(...prices) !== undefined

type Prices = Record<string, unknown>

function modelOf(id: string, price: Prices, cost?: Prices, more: object = {}) {
  const routes = [{ provider: 'up', model: `${id}-upstream`, ...(cost && { cost }) }]
  return { id, contextLength: 1000, maxOutputTokens: 100, price, routes, ...more }
}

const OPENAI = { type: 'openai', baseUrl: 'https://up.example/v1' }
const warningsOf = (models: object[], up: object = OPENAI) =>
  priceWarnings(requireCatalog({ providers: { up }, models }))

const PRICE = { input: '2.5', output: '10' }

test('a price at or above the cost of every route, or a route without a stated cost, gives no warning', () => {
  const dearer = { input: '3', output: '12', cachedInput: '2.5', cacheWrite: '4', request: '0.1', image: '0.2' }
  expect(warningsOf([modelOf('a', PRICE), modelOf('b', PRICE, PRICE), modelOf('c', dearer, PRICE)])).toEqual([])
  for (const price of [PRICE, dearer]) expect(isAbove(parsePrice(PRICE), parsePrice(price))).toBe(false)
})

test.each<[string, Prices, Prices, string[]]>([
  ['output', PRICE, { input: '2.5', output: '12' }, ['output 10', '12']],
  ['input (by the smallest amount)', PRICE, { input: '2.500001', output: '10' }, ['input 2.5', '2.500001']],
  ['cachedInput', { ...PRICE, cachedInput: '0.1' }, { ...PRICE, cachedInput: '0.25' }, ['cachedInput 0.1', '0.25']],
  ['cachedInput (which costs as input)', { ...PRICE, cachedInput: '1' }, PRICE, ['cachedInput 1', '2.5']],
  ['cacheWrite', { ...PRICE, cacheWrite: '3' }, { ...PRICE, cacheWrite: '3.125' }, ['cacheWrite 3', '3.125']],
  ['request (which is not billed)', PRICE, { ...PRICE, request: '0.005' }, ['request 0', '0.005']],
  ['image', { ...PRICE, image: '0.001' }, { ...PRICE, image: '0.0015' }, ['image 0.001', '0.0015']],
])('a warning names a price below the route’s cost for %s', (_, price, cost, [part, costs]) => {
  expect(isAbove(parsePrice(cost as PriceStrings), parsePrice(price as PriceStrings))).toBe(true)
  expect(warningsOf([modelOf('gpt-4o', price, cost)])).toEqual([
    `model 'gpt-4o': ${part} is below what route up/gpt-4o-upstream costs (${costs})`,
  ])
})

const tier = (above: number, input: string, output = '10') => ({ above, input, output })

test('a price and a cost with tiers are compared wherever either has one, and a warning names the range of prompts', () => {
  const price = { ...PRICE, tiers: [tier(200, '5'), tier(400, '6')] }
  const cost = { input: '2.5', output: '10', tiers: [tier(100, '4', '9'), tier(300, '6', '12')] }
  const about = "model 'a':"
  const route = 'is below what route up/a-upstream costs'
  expect(warningsOf([modelOf('a', price, cost)])).toEqual([
    `${about} input 2.5 for prompts above 100 and up to 200 tokens ${route} (4)`,
    `${about} input 5 for prompts above 300 and up to 400 tokens ${route} (6)`,
    `${about} output 10 for prompts above 300 and up to 400 tokens ${route} (12)`,
    `${about} output 10 for prompts above 400 tokens ${route} (12)`,
  ])
  expect(warningsOf([modelOf('a', { ...price, input: '1' }, PRICE)])).toEqual([
    `${about} input 1 for prompts up to 200 tokens ${route} (2.5)`,
  ])
})

test('a price of a tier that has none for cache writes is compared by its proportion, and pieces once', () => {
  const price = { input: '4', output: '10', cacheWrite: '5', request: '0.1', tiers: [tier(100, '8')] }
  const cost = { input: '4', output: '10', request: '0.2', tiers: [{ ...tier(100, '8'), cacheWrite: '10.1' }] }
  expect(warningsOf([modelOf('a', price, cost)])).toEqual([
    "model 'a': cacheWrite 10 for prompts above 100 tokens is below what route up/a-upstream costs (10.1)",
    "model 'a': request 0.1 is below what route up/a-upstream costs (0.2)",
  ])
})

test('warnings name every price below the cost of any route, and no price twice for one route', () => {
  const routes = [
    { provider: 'up', model: 'x', cost: { input: '3', output: '11' } },
    { provider: 'up', model: 'y', cost: { input: '4', output: '1' } },
  ]
  expect(warningsOf([modelOf('other', PRICE), modelOf('a', PRICE, undefined, { routes })])).toEqual([
    "model 'a': input 2.5 is below what route up/x costs (3)",
    "model 'a': output 10 is below what route up/x costs (11)",
    "model 'a': input 2.5 is below what route up/y costs (4)",
  ])
})

const NO_CACHE_WRITE =
  "model 'a': without a cacheWrite, cache writes are charged at 1.25 × input, and at 2 × input for an hour"

const ANTHROPIC = { ...OPENAI, type: 'anthropic' }
const BEDROCK = { type: 'bedrock', region: 'us-east-1' }
const FREE = { input: '0', output: '0' }
const writes = (cacheWrite: string) => ({ ...PRICE, cacheWrite })

test.each<[string, object, Prices, Prices | undefined, unknown[]]>([
  ['a provider of type anthropic', ANTHROPIC, PRICE, PRICE, [NO_CACHE_WRITE]],
  ['a provider of type bedrock', BEDROCK, PRICE, undefined, [NO_CACHE_WRITE]],
  ['a cost of cache writes', OPENAI, PRICE, writes('3.125'), [NO_CACHE_WRITE]],
  ['a cost that their charge does not cover', OPENAI, PRICE, writes('3.2'), [expect.any(String), NO_CACHE_WRITE]],
  ['a price of cache writes', BEDROCK, writes('4'), undefined, []],
  ['no price at all', BEDROCK, FREE, undefined, []],
])(
  'a warning says how cache writes without a price are charged, where there may be some: %s',
  (_, up, price, cost, warnings) => {
    expect(warningsOf([modelOf('a', price, cost)], up)).toEqual(warnings)
  },
)

test('a warning names the fallbacks that a free model does not use, and no price of theirs', () => {
  const others = [modelOf('dear', PRICE), modelOf('given', PRICE, FREE), modelOf('cheap', FREE, PRICE)]
  const fallback = ['dear', 'given', 'cheap', 'named']
  const free = modelOf('a', FREE, FREE, { fallback, paidFallback: ['named'] })
  const warned = warningsOf([free, ...others, modelOf('named', PRICE)])
  const words = 'is not used, because this model is free: name it in paidFallback'
  expect(warned.filter((warning) => warning.startsWith("model 'a'"))).toEqual(
    ['dear', 'cheap'].map((id) => `model 'a': its fallback '${id}' ${words}`),
  )
})

test('a warning compares the routes of a fallback with the price of the model that falls back', () => {
  const cheap = modelOf('cheap', { input: '0.1', output: '0.2' }, undefined, { fallback: ['dear'] })
  const dear = modelOf('dear', { input: '5', output: '20' }, { input: '0.1', output: '15' })
  expect(warningsOf([cheap, dear])).toEqual([
    "model 'cheap': output 0.2 is below what route up/dear-upstream of its fallback 'dear' costs (15)",
  ])
})
