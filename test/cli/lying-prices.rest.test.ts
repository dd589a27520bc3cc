import { expect, test } from '@jest/globals'
import { CATALOG, litellm, modelsDev, perToken, portkey, proposedModels, runPrices } from './support/price-lists.ts'

type Lists = Parameters<typeof runPrices>[0]

const GOOD = { input: 2.5, output: 10 }
const dev = (cost: object, limit?: object, more?: object): Lists => {
  return { 'api.json': modelsDev({ ...GOOD, ...cost }, limit, more) }
}
/** A price that JSON.stringify cannot write. */
const written = (name: string, number: string): Lists => {
  return { 'api.json': JSON.stringify(modelsDev({ ...GOOD, [name]: 'NUMBER' })).replace('"NUMBER"', number) }
}
const cents = (input: unknown, output: unknown, currency = 'USD'): Lists => {
  const prices = { request_token: { price: input }, response_token: { price: output } }
  return { 'openai.json': portkey(prices, {}, currency) }
}
const tier = (type: string, size: number) => ({ ...GOOD, tier: { type, size } })
const inLitellm = (price: number) => JSON.stringify({ litellm_provider: 'openai', ...perToken(price, price) })

test.each<[lie: string, lists: Lists, why: string]>([
  ['a negative price', dev({ input: -1 }), "input is '-1', which is no price"],
  ['a price of 0', dev({ output: 0 }), 'output is 0, and ours is not'],
  ['a price of -0', written('output', '-0'), 'output is 0, and ours is not'],
  ['1e400', written('input', '1e400'), "input is '1e400', which is no price"],
  ['1e-400', written('input', '1e-400'), "'1e-400', which is no price"],
  ['1e99', written('input', '1e99'), 'beyond all that is sold'],
  ['a million digits', written('input', '9'.repeat(1_000_000)), `input is '${'9'.repeat(40)}', which is no price`],
  ['a text NaN', dev({ input: 'NaN' }), "input is 'NaN', which is no price"],
  ['a text in hexadecimals', dev({ input: '0x10' }), "input is '0x10', which is no price"],
  ['a text with a currency', dev({ input: '$2.50' }), "input is '$2.50', which is no price"],
  ['a list of prices', dev({ input: [2.5] }), 'input is a list, which is no price'],
  ['an object of prices', dev({ input: { usd: 2.5 } }), 'input is an object, which is no price'],
  ['true', dev({ input: true }), 'input is a flag, which is no price'],
  ['no output', { 'api.json': modelsDev({ input: 2.5 }) }, 'it has no price of output'],
  ['null', dev({ output: null }), 'it has no price of output'],
  ['dollars a token', dev({ input: 2.5e-6, output: 1e-5 }), 'the unit may be wrong'],
  ['dollars for a million tokens', { 'l.json': litellm(perToken(2.5, 2.5)) }, 'the unit may be wrong'],
  ['cents for a million tokens', cents(250, 1000), 'the unit may be wrong'],
  ['another currency', cents(0.00025, 0.001, 'EUR'), "currency is 'EUR' and not USD"],
  ['a currency of a model', dev({}, {}, { currency: 'CNY' }), "currency is 'CNY' and not USD"],
  ['a context of -1', dev({}, { context: -1 }), "context is '-1', which is no number of tokens"],
  ['half a token', dev({}, { output: 0.5 }), "output limit is '0.5', which is no number of tokens"],
  ['a context of 1e30', dev({}, { context: 1e30 }), 'which is no number of tokens'],
  ['a tier at -5', dev({ tiers: [tier('context', -5)] }), "above '-5'"],
  ['a tier by the hour', dev({ tiers: [tier('time', 5)] }), 'a tier that is not by the length of prompts'],
  ['a thousand tiers', dev({ tiers: Array(1000).fill(tier('context', 5)) }), 'it has 1000 tiers'],
  ['a model twice', { 'l.json': `{"gpt-4o":${inLitellm(9e-6)},"gpt-4o":{},"a":${inLitellm(1)}}` }, 'it is there twice'],
  ['a provider twice', { 'api.json': '{"openai":{"models":{}},"openai":{},"x":{"models":{}}}' }, 'it is there twice'],
  ['a price twice', written('input', '9,"input":1'), 'input is there twice, which is no price'],
])('%s is not believed, is said, and changes nothing', async (_, lists, why) => {
  const { code, stdout, stderr, proposal } = await runPrices(lists, ['--check', '--markup', '20'])
  expect({ code, proposal }).toEqual({ code: 1, proposal: undefined })
  expect(stderr).toMatch(/^(?:warning: .*: without a cacheWrite, .*\n)*$/)
  expect(stdout).toContain(why)
  expect(stdout).toContain('not believed: ')
  expect(stdout).toContain('Nothing has drifted.')
  expect(stdout.length).toBeLessThan(3000)
})

test('a list that is not believed leaves the others their word', async () => {
  const [model] = await proposedModels({ ...dev({ input: -1 }), 'l.json': litellm(perToken(3e-6, 1e-5)) })
  expect(model.routes[0].cost.input).toBe('3')
})

test('a price of 0 stands where ours is 0', async () => {
  const free = CATALOG.replaceAll(/"\d+\.\d0"/g, '"0"')
  const run = await runPrices({ 'api.json': modelsDev({ input: 0, output: 0 }) }, ['--check'], free)
  expect([run.code, run.stdout.includes('not believed')]).toEqual([0, false])
})

test('a price of caches that is 0 is one that the list does not know', async () => {
  const { stdout } = await runPrices({ 'api.json': modelsDev({ ...GOOD, cache_read: 0, cache_write: 0 }) })
  expect(stdout).toContain('Nothing has drifted.')
})

test('names of JavaScript’s own are names of no model and no provider', async () => {
  for (const name of ['__proto__', 'constructor', 'toString', 'hasOwnProperty']) {
    const catalog = CATALOG.replace('"gpt-4o"', `"${name}"`)
    const missing = await runPrices({ 'api.json': modelsDev(GOOD), 'l.json': litellm({}, 'other') }, [], catalog)
    expect(missing.stderr).toContain("None of the catalog's routes is in models.dev, LiteLLM")
    const there = `{"${name}":{"litellm_provider":"openai","input_cost_per_token":7e-6,"output_cost_per_token":9e-6}}`
    const [model] = await proposedModels({ 'l.json': there }, [], catalog)
    expect(model.routes[0].cost).toEqual({ input: '7', output: '9' })
  }
  expect(({} as { litellm_provider?: string }).litellm_provider).toBeUndefined()
})

test.each<[string, string | object, string]>([
  ['half a file', '{"openai": {"models": {', 'is not JSON that can be read: line 1'],
  ['an empty file', '', 'is not JSON that can be read'],
  ['a page in HTML', '<html></html>', 'It looks like HTML'],
  ['a list', [], 'is not in the form of models.dev, LiteLLM or Portkey'],
  ['null', 'null', 'is not in the form of models.dev, LiteLLM or Portkey'],
  ['another object', { error: 'rate limited' }, 'is not in the form of models.dev, LiteLLM or Portkey'],
  ['a deep one', '['.repeat(100_000), 'is nested more than 64 levels deep'],
])('%s in the place of a list is refused in words', async (_, list, why) => {
  const { code, stdout, stderr } = await runPrices({ 'api.json': list })
  expect({ code, stdout }).toEqual({ code: 1, stdout: '' })
  expect(stderr).toContain(why)
})

test('a list with marks that a terminal obeys prints none of them', async () => {
  const { stdout } = await runPrices({ 'api.json': modelsDev({ ...GOOD, input: '\u001b[2J\u202e1' }) }, ['--check'])
  for (const mark of ['\u001b', '\u202e']) expect(stdout).not.toContain(mark)
})

test.each(['-5', '1001', '20%', '1e2', '0x1', '', '12.345', '9'.repeat(100)])(
  'a markup of "%s" is refused',
  async (markup) => {
    const { code, stderr } = await runPrices({ 'api.json': modelsDev(GOOD) }, ['--markup', markup])
    expect(code).toBe(1)
    expect(stderr).toContain('It must be a percentage from 0 to 1000')
  },
)
