import { createHash } from 'node:crypto'
import { readdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from '@jest/globals'
import { commandsOf } from '../documents/support/markdown.ts'
import { waybill } from '../support/command-line.ts'
import { openTestTables } from '../support/gateway.ts'
import { emptyFolder } from '../support/processes.ts'
import { openStage } from '../support/stack.ts'
import { commandsOn } from './support/commands.ts'
import {
  CATALOG,
  changedLines,
  litellm,
  modelsDev,
  perToken,
  portkey,
  proposedModels,
  runPrices,
} from './support/price-lists.ts'

const SAME = modelsDev({ input: 2.5, output: 10 })
const OTHER = modelsDev({ input: 3, output: 10 })

test('a proposal changes nothing but the values that differ: order, blanks and prices as they were written stay', async () => {
  const run = await runPrices({ 'api.json': modelsDev({ input: 2.5, output: 12.5, cache_read: 1.25 }) })
  expect(run.code).toBe(0)
  expect(changedLines(run)).toEqual([
    '      "routes": [{ "provider": "openai", "model": "gpt-4o", "cost": { "input": "2.50", "output": "12.5", "cachedInput": "1.25" } }]',
  ])
})

test('a new cost stands in the form of the file around it, on lines of its own or not, with any line ends', async () => {
  const claude = litellm(perToken(3e-6, 15e-6), 'anthropic.claude-x', 'bedrock_converse')
  const cost = '"cost": { "input": "3", "output": "15" }'
  expect(changedLines(await runPrices({ 'l.json': claude }))).toEqual([
    '          "model": "anthropic.claude-x",',
    `          ${cost}`,
  ])
  const { proposal } = await runPrices({ 'l.json': claude }, [], CATALOG.replaceAll('\n', '\r\n'))
  expect(proposal).toContain(`"model": "anthropic.claude-x",\r\n          ${cost}\r\n`)
  expect(proposal?.replaceAll('\r\n', '')).not.toContain('\n')
  const tight = await runPrices({ 'l.json': claude }, [], JSON.stringify(JSON.parse(CATALOG)))
  expect(tight.proposal).toContain('"model":"anthropic.claude-x","cost":{"input":"3","output":"15"}}')
})

test('a proposal names each list with its date and hash, and pushes nothing', async () => {
  const text = JSON.stringify(OTHER)
  const { proposal = '{}', stdout } = await runPrices({ 'api.json': text })
  const hash = createHash('sha256').update(text).digest('hex')
  const today = new Date().toISOString().slice(0, 10)
  const source = `models.dev (api.json, ${today}, sha256 ${hash})`
  expect(JSON.parse(proposal).$comment).toBe(`Prices by ${source}.`)
  expect(stdout).toContain(source)
  expect(stdout).toContain('waybill catalog check catalog.proposal.json')
})

test('where lists differ, the dearer price, the larger context and the smaller output are proposed, and all are shown', async () => {
  const run = await runPrices(
    {
      'api.json': modelsDev({ input: 2.5, output: 11 }, { context: 200_000, output: 16_384 }),
      'l.json': litellm({ ...perToken('2.6e-06', 1e-5), max_input_tokens: 128_000, max_output_tokens: 4096 }),
      'openai.json': portkey({ request_token: { price: 0.00025 }, response_token: { price: 0.001 } }),
    },
    ['--json'],
  )
  const lists = (field: string) =>
    JSON.parse(run.stdout).differences.find((one: { field: string }) => one.field === field)
  expect(lists('cost.input')).toEqual({
    model: 'small',
    route: 'openai/gpt-4o',
    field: 'cost.input',
    ours: '2.5',
    proposed: '2.6',
    lists: { 'models.dev': '2.5', LiteLLM: '2.6', 'Portkey openai': '2.5' },
    falls: false,
  })
  expect(lists('cost.output')).toMatchObject({ proposed: '11', lists: { LiteLLM: '10', 'Portkey openai': '10' } })
  expect(lists('contextLength')).toMatchObject({ ours: '128000', proposed: '200000' })
  expect(lists('maxOutputTokens')).toMatchObject({ ours: '16384', proposed: '4096', falls: true })
  expect(JSON.parse(run.proposal ?? '').models[0]).toMatchObject({ contextLength: 200_000, maxOutputTokens: 4096 })
})

test('lists that differ are shown even if ours is what would be proposed', async () => {
  const run = await runPrices({ 'api.json': SAME, 'l.json': litellm(perToken(2e-6, 1e-5)) })
  expect([run.code, run.proposal]).toEqual([0, undefined])
  expect(run.stdout).toContain('models.dev 2.5 | LiteLLM 2')
  expect(run.stdout).toContain('Nothing has drifted.')
})

// 3.3e-6 dollars as a float, times a million, is 3.3000000000000003.
test.each([
  ['3.3e-06', '3.3'],
  ['0.0000033', '3.3'],
  ['33E-7', '3.3'],
  ['3.3000000000001e-6', '3.300001'],
  ['"3.3e-06"', '3.3'],
])('the number %s of a list is read from its text: %s', async (number, price) => {
  const list = JSON.stringify(litellm(perToken('NUMBER', 1e-5)))
  const [model] = await proposedModels({ 'l.json': list.replace('"NUMBER"', number) })
  expect(model.routes[0].cost.input).toBe(price)
})

const BASE = { input: 2.5, output: 10, cache_read: 0.25, cache_write: 3.125 }
const TIER = { input: 5, output: 15, cache_read: 0.5, cache_write: 6.25 }
const TIERS = [{ ...TIER, tier: { type: 'context', size: 272_000 } }]
const LITELLM_TIERS = {
  ...perToken(2.5e-6, 1e-5),
  cache_read_input_token_cost: 2.5e-7,
  cache_creation_input_token_cost: 3.125e-6,
  cache_creation_input_token_cost_above_1hr: 5e-6,
  input_cost_per_token_above_272k_tokens: 5e-6,
  output_cost_per_token_above_272k_tokens: 1.5e-5,
  cache_read_input_token_cost_above_272k_tokens: 5e-7,
  cache_creation_input_token_cost_above_272k_tokens: 6.25e-6,
  input_cost_per_token_batches: 1.25e-6,
  output_cost_per_token_priority: 1e-4,
  input_cost_per_token_above_272k_tokens_priority: 1e-4,
}
const cents = (input: number, output: number, read: number, write: number, hour: number) => ({
  request_token: { price: input },
  response_token: { price: output },
  cache_read_input_token: { price: read },
  cache_write_input_token: { price: write },
  additional_units: { cache_write_1h: { price: hour } },
})
const LOW = cents(0.00025, 0.001, 0.000025, 0.0003125, 0.0005)
const HIGH = cents(0.0005, 0.0015, 0.00005, 0.000625, 0.001)
const STANDARD = { context_tiers: { high: { pricing_config: { pay_as_you_go: HIGH } } } }
const PORTKEY_TIERS = {
  context_tier_map: { 0: 'low', 272000: 'high' },
  regions: { default: { execution_modes: { standard: STANDARD, batch: {} } } },
}

test.each<[string, string, object, above: number, hour: boolean]>([
  ['models.dev', 'api.json', modelsDev({ ...BASE, tiers: TIERS }), 272_000, false],
  // The older form of a tier stays beside the newer one, with another border.
  ['both', 'api.json', modelsDev({ ...BASE, context_over_200k: TIER, tiers: TIERS }), 272_000, false],
  ['its older form', 'api.json', modelsDev({ ...BASE, context_over_200k: TIER }), 200_000, false],
  ['LiteLLM', 'l.json', litellm(LITELLM_TIERS), 272_000, true],
  ['Portkey', 'openai.json', portkey(LOW, { custom_pricing: PORTKEY_TIERS }), 272_000, true],
])('tiers and prices of caches are read in the form of %s', async (_, name, list, above, hasHour) => {
  const [model] = await proposedModels({ [name]: list })
  const tier = { above, input: '5', output: '15', cachedInput: '0.5', cacheWrite: '6.25' }
  const cost = { input: '2.50', output: '10.00', cachedInput: '0.25', cacheWrite: '3.125', tiers: [tier] }
  const withHour = { ...cost, cacheWrite1h: '5', tiers: [{ ...tier, cacheWrite1h: '10' }] }
  expect(model.routes[0].cost).toEqual(hasHour ? withHour : cost)
})

test('tiers of several lists are dearest in every range, at most four, and none is cheaper than the base', async () => {
  const above = (size: number, input: number, output = 10) => ({ input, output, tier: { type: 'context', size } })
  const tiers = [above(1000, 3), above(2000, 0.5), above(3000, 5), above(4000, 6), above(5000, 7)]
  const [model] = await proposedModels({
    'api.json': modelsDev({ input: 2.5, output: 10, tiers }),
    'l.json': litellm({ ...perToken(2.5e-6, 1e-5), input_cost_per_token_above_2k_tokens: 4e-6 }),
  })
  const proposed = model.routes[0].cost.tiers.map((tier: { above: number; input: string }) => [tier.above, tier.input])
  expect(Object.fromEntries(proposed)).toEqual({ 1000: '3', 2000: '4', 3000: '5', 4000: '7' })
})

test('ranges of LiteLLM are tiers, and its prices of images are none', async () => {
  const ranges = [
    { range: [0, 200_000], ...perToken(2.5e-6, 1e-5) },
    { range: [200_000, 1_000_000], ...perToken(5e-6, 2e-5) },
  ]
  const list = litellm({ tiered_pricing: ranges, input_cost_per_image_above_256k_tokens: 1e-9 })
  const [model] = await proposedModels({ 'l.json': list })
  expect(model.routes[0].cost.tiers).toEqual([{ above: 200_000, input: '5', output: '20' }])
})

test('a markup makes the price of the dearest cost of all routes, rounded up, in every tier', async () => {
  const catalog = JSON.parse(CATALOG)
  catalog.models[0].routes.push({ provider: 'aws', model: 'other', cost: { input: '2.6', output: '9' } })
  const list = { 'api.json': modelsDev({ input: 2.5, output: 10.000001, context_over_200k: { input: 5, output: 15 } }) }
  const [raised] = await proposedModels(list, ['--markup', '12.5'], JSON.stringify(catalog))
  const tiers = [{ above: 200_000, input: '5.625', output: '16.875' }]
  expect(raised.price).toEqual({ input: '2.925', output: '11.250002', tiers })
  expect((await proposedModels(list))[0].price).toEqual({ input: '3.00', output: '12.00' })
})

test('an embedding model gets a price of input alone', async () => {
  const list = litellm({ ...perToken(2e-8, 0), max_input_tokens: 8191 }, 'embed')
  expect((await proposedModels({ 'l.json': list }, ['--markup', '50']))[2]).toMatchObject({
    contextLength: 8191,
    price: { input: '0.03' },
    routes: [{ cost: { input: '0.02' } }],
  })
})

test('a price that falls by more than half is marked, one that falls by half is not', async () => {
  const { stdout } = await runPrices({ 'api.json': modelsDev({ input: 1.249999, output: 5 }) }, ['--json'])
  const { differences } = JSON.parse(stdout)
  expect(differences.map((one: { field: string; falls: boolean }) => [one.field, one.falls])).toEqual([
    ['cost.input', true],
    ['cost.output', false],
  ])
})

test('--check writes nothing, and ends with 1 only if something has drifted or is not believed', async () => {
  for (const [list, code, text] of [
    [SAME, 0, 'Nothing has drifted.'],
    [modelsDev({ input: 2.500001, output: 10 }), 1, '1 values have drifted.'],
    [modelsDev({ input: -1, output: 10 }), 1, 'not believed'],
  ] as const) {
    const run = await runPrices({ 'api.json': list }, ['--check'])
    expect(run).toMatchObject({ code, proposal: undefined, stdout: expect.stringContaining(text) })
  }
})

test('every route that no list has is named, and its prices and limits stay', async () => {
  const { stdout, proposal = '{}' } = await runPrices({ 'api.json': OTHER })
  for (const place of ['claude (aws/anthropic.claude-x)', 'vectors (openai/embed)', 'echo (echo/echo)']) {
    expect(stdout).toContain(`in no list: ${place}`)
  }
  expect(JSON.parse(proposal).models.slice(1)).toEqual(JSON.parse(CATALOG).models.slice(1))
})

test('the same model at another provider is no counterpart', async () => {
  const { code, proposal } = await runPrices({ 'l.json': litellm(perToken(1e-6, 1e-6), 'gpt-4o', 'azure') })
  expect([code, proposal]).toEqual([1, undefined])
  const azure = portkey({ request_token: { price: 0.001 }, response_token: { price: 0.001 } })
  const { stderr } = await runPrices({ 'azure-openai.json': azure })
  const words = "None of the catalog's routes is in Portkey azure-openai. A list of Portkey is of one provider"
  expect(stderr).toContain(words)
})

test('no proposal overwrites a file', async () => {
  const folder = emptyFolder()
  writeFileSync(join(folder, 'c.json'), CATALOG)
  writeFileSync(join(folder, 'api.json'), JSON.stringify(OTHER))
  const command = ['catalog', 'prices', 'c.json', '--from', 'api.json']
  const { shown, refused } = commandsOn((args) => waybill(folder, [...command, ...args]))
  expect(await refused('--out', 'api.json')).toContain("'api.json' cannot be written: it is there already")
  await shown()
  expect(await refused()).toContain('it is there already')
  await shown('--out', 'other.json')
  expect(readdirSync(folder).sort()).toEqual(['api.json', 'c.json', 'c.proposal.json', 'other.json'])
})

test('a catalog that is not valid, or has a name twice, is refused before any list is read', async () => {
  const twice = CATALOG.replace('"output": "12.00"', '"input": "9", "output": "12.00"')
  expect((await runPrices({ 'api.json': SAME }, [], twice)).stderr).toContain("has the name 'input' twice")
  const invalid = CATALOG.replace('"12.00"', '12')
  expect((await runPrices({ 'api.json': SAME }, [], invalid)).stderr).toContain('models[0].price.output')
})

test('without a file, the catalog in force is compared, and a proposal can be pushed', async () => {
  const stage = await openStage(await openTestTables())
  const { run, shown } = commandsOn((args) => stage.waybill(['catalog', ...args, '--stage', 'dev']))
  const folder = emptyFolder()
  const [file = '', list = '', out = ''] = ['c.json', 'api.json', 'new.json'].map((name) => join(folder, name))
  writeFileSync(file, CATALOG.replace('local:echo', 'https://echo.example/v1'))
  writeFileSync(list, JSON.stringify(OTHER))
  await shown('push', file)
  expect((await run('prices', '--from', list, '--check')).code).toBe(1)
  const { code, stderr } = await run('prices', '--from', list, '--out', out)
  expect([code, stderr]).toEqual([0, expect.stringMatching(/^(?:warning: .*: without a cacheWrite, .*\n)*$/)])
  await shown('push', out)
  await shown('prices', '--from', list, '--check')
})

test('there may be 20 lists, and no more', async () => {
  const many = (count: number) => Object.fromEntries(Array.from({ length: count }, (_, i) => [`${i}.json`, SAME]))
  expect(await runPrices(many(20), ['--check'])).toMatchObject({ code: 0 })
  expect((await runPrices(many(21))).stderr).toContain('There may be at most 20 lists.')
})

test.each(commandsOf('docs/catalog.md').filter((command) => command.includes('catalog prices')))(
  'the documented command "%s" works',
  async (command) => {
    const folder = emptyFolder()
    writeFileSync(join(folder, 'FILE'), CATALOG)
    writeFileSync(join(folder, 'LIST'), JSON.stringify(command.includes('--check') ? SAME : OTHER))
    const args = command.replace('npm run -s waybill -- ', '').split(' ')
    expect(await waybill(folder, args)).toMatchObject({ code: 0 })
  },
)
