import { expect, jest, test } from '@jest/globals'
import { CATALOG, litellm, modelsDev, portkey, runPrices } from './support/price-lists.ts'

jest.setTimeout(60_000)

const GOOD = { input: 2.5, output: 10 }
/** A number that JSON.stringify cannot write. */
const written = (list: object, number: string) => JSON.stringify(list).replace('"NUMBER"', number)
const cents = (input: unknown, output: unknown) => ({
  request_token: { price: input },
  response_token: { price: output },
})

test.each<[lie: string, file: string, list: object | string, why: string]>([
  ['a negative price', 'api.json', modelsDev({ ...GOOD, input: -1 }), "input is '-1', which is no price"],
  ['a price of 0', 'api.json', modelsDev({ ...GOOD, output: 0 }), 'output is 0, and ours is not'],
  [
    'a price of -0',
    'api.json',
    written(modelsDev({ ...GOOD, output: 'NUMBER' }), '-0'),
    'output is 0, and ours is not',
  ],
  [
    '1e400',
    'api.json',
    written(modelsDev({ ...GOOD, input: 'NUMBER' }), '1e400'),
    "input is '1e400', which is no price",
  ],
  ['1e-400', 'api.json', written(modelsDev({ ...GOOD, input: 'NUMBER' }), '1e-400'), "'1e-400', which is no price"],
  ['1e99', 'api.json', written(modelsDev({ ...GOOD, input: 'NUMBER' }), '1e99'), 'beyond all that is sold'],
  [
    'a number of a million digits',
    'api.json',
    written(modelsDev({ ...GOOD, input: 'NUMBER' }), '9'.repeat(1_000_000)),
    `input is '${'9'.repeat(40)}', which is no price`,
  ],
  ['a text NaN', 'api.json', modelsDev({ ...GOOD, input: 'NaN' }), "input is 'NaN', which is no price"],
  ['a text in hexadecimals', 'api.json', modelsDev({ ...GOOD, input: '0x10' }), "input is '0x10', which is no price"],
  ['a text with a currency', 'api.json', modelsDev({ ...GOOD, input: '$2.50' }), "input is '$2.50', which is no price"],
  ['a list of prices', 'api.json', modelsDev({ ...GOOD, input: [2.5] }), 'input is a list, which is no price'],
  ['true', 'api.json', modelsDev({ ...GOOD, input: true }), 'input is a flag, which is no price'],
  ['no output', 'api.json', modelsDev({ input: 2.5 }), 'it has no price of output'],
  ['null', 'api.json', modelsDev({ ...GOOD, output: null }), 'it has no price of output'],
  ['dollars a token', 'api.json', modelsDev({ input: 2.5e-6, output: 1e-5 }), 'the unit may be wrong'],
  [
    'dollars for a million tokens',
    'l.json',
    litellm({ input_cost_per_token: 2.5, output_cost_per_token: 10 }),
    'the unit may be wrong',
  ],
  ['cents for a million tokens', 'openai.json', portkey(cents(250, 1000)), 'the unit may be wrong'],
  ['another currency', 'openai.json', portkey(cents(0.00025, 0.001), {}, 'EUR'), "currency is 'EUR' and not USD"],
  ['a currency of a model', 'api.json', modelsDev(GOOD, {}, { currency: 'CNY' }), "currency is 'CNY' and not USD"],
  ['a context of -1', 'api.json', modelsDev(GOOD, { context: -1 }), "context is '-1', which is no number of tokens"],
  ['half a token', 'api.json', modelsDev(GOOD, { output: 0.5 }), "output limit is '0.5', which is no number of tokens"],
  ['a context of 1e30', 'api.json', modelsDev(GOOD, { context: 1e30 }), 'which is no number of tokens'],
  [
    'a tier at -5',
    'api.json',
    modelsDev({ ...GOOD, tiers: [{ ...GOOD, tier: { type: 'context', size: -5 } }] }),
    "above '-5'",
  ],
  [
    'a tier by the hour',
    'api.json',
    modelsDev({ ...GOOD, tiers: [{ ...GOOD, tier: { type: 'time', size: 5 } }] }),
    'a tier that is not by the length of prompts',
  ],
  [
    'a thousand tiers',
    'api.json',
    modelsDev({
      ...GOOD,
      tiers: Array.from({ length: 1000 }, (_, i) => ({ ...GOOD, tier: { type: 'context', size: i + 1 } })),
    }),
    'it has 1000 tiers',
  ],
  [
    'a model twice',
    'l.json',
    `{"sample_spec":{"litellm_provider":""},"gpt-4o":${JSON.stringify({ litellm_provider: 'openai', input_cost_per_token: 9e-6, output_cost_per_token: 9e-6 })},"gpt-4o":${JSON.stringify({ litellm_provider: 'openai', input_cost_per_token: 1e-6, output_cost_per_token: 1e-6 })}}`,
    'it is there twice',
  ],
  ['a provider twice', 'api.json', '{"openai":{"models":{}},"openai":{},"x":{"models":{}}}', 'it is there twice'],
  [
    'a price twice',
    'api.json',
    JSON.stringify(modelsDev(GOOD)).replace('"input":2.5', '"input":9,"input":1'),
    'input is there twice, which is no price',
  ],
])('%s is not believed, is said, and changes nothing', async (_, file, list, why) => {
  const { code, stdout, stderr, proposal } = await runPrices({ [file]: list }, ['--check', '--markup', '20'])
  expect({ code, proposal }).toEqual({ code: 1, proposal: undefined })
  expect(stderr).toMatch(/^(?:warning: .*: without a cacheWrite, .*\n)*$/)
  expect(stdout).toContain(why)
  expect(stdout).toContain('not believed: ')
  expect(stdout).toContain('Nothing has drifted.')
  expect(stdout.length).toBeLessThan(3000)
})

test('a list that is not believed leaves the others their word', async () => {
  const { proposal = '{}' } = await runPrices({
    'api.json': modelsDev({ input: -1, output: 10 }),
    'l.json': litellm({ input_cost_per_token: 3e-6, output_cost_per_token: 1e-5 }),
  })
  expect(JSON.parse(proposal).models[0].routes[0].cost.input).toBe('3')
})

test('a price of 0 stands where ours is 0', async () => {
  const free = CATALOG.replace('"3.00"', '"0"')
    .replace('"12.00"', '"0"')
    .replace('"2.50"', '"0"')
    .replace('"10.00"', '"0"')
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
    const { proposal = '{}' } = await runPrices({ 'l.json': there }, [], catalog)
    expect(JSON.parse(proposal).models[0].routes[0].cost).toEqual({ input: '7', output: '9' })
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
