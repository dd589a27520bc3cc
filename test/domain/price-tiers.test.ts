import { expect, test } from '@jest/globals'
import { parseCatalog } from '../../layers/catalog/parse-catalog.ts'
import { partsWithin } from '../../layers/gateway/domain/money/bill.ts'
import {
  costOf,
  NO_QUANTITIES,
  type Price,
  type PriceStrings,
  type PriceTier,
  parsePrice,
  priceAt,
  type Quantities,
  statePrice,
} from '../../layers/gateway/domain/money/price.ts'
import { PARTS, WRITES } from '../../layers/gateway/domain/money/price-kinds.ts'
import { affordableTokens, type WorstCase, worstCostOf } from '../../layers/gateway/domain/money/priced-request.ts'
import { Random } from '../simulation/random.ts'

const LONG = { above: 272_000, input: '10', output: '45', cachedInput: '1' }
const TIERED: PriceStrings = { input: '5', output: '30', cachedInput: '0.5', tiers: [LONG] }

function bought(quantities: Partial<Quantities>): Quantities {
  return { ...NO_QUANTITIES, ...quantities }
}

test('a request is charged as a whole at the highest tier that its prompt is above, cached tokens included', () => {
  const price = parsePrice(TIERED)
  expect(costOf(price, bought({ prompt: 272_000, completion: 10 }))).toBe(272_000n * 5_000n + 10n * 30_000n)
  expect(costOf(price, bought({ prompt: 272_001, completion: 10 }))).toBe(272_001n * 10_000n + 10n * 45_000n)
  expect(costOf(price, bought({ prompt: 272_001, cached: 272_000 }))).toBe(10_000n + 272_000n * 1_000n)
})

test('a request and its images cost the same in every tier', () => {
  const price = parsePrice({ ...TIERED, request: '0.5', image: '0.25' })
  const sum = costOf(price, bought({ prompt: 300_000, images: 2 }))
  expect(sum).toBe(300_000n * 10_000n + 1_000_000_000n)
})

test.each<[string, Partial<PriceStrings>, Partial<PriceTier>, Partial<Price>]>([
  ['without any price of a cache', {}, {}, { cachedInputPico: 6n, cacheWritePico: 8n, cacheWrite1hPico: 13n }],
  [
    'with its own',
    { cacheWrite: '0.000001' },
    { cacheWrite: '0.000009' },
    { cacheWritePico: 9n, cacheWrite1hPico: 18n },
  ],
  ['with those of the base', { cacheWrite: '0.000005' }, {}, { cacheWritePico: 8n, cacheWrite1hPico: 13n }],
  [
    'with an hour of the base',
    { cacheWrite: '0.000005', cacheWrite1h: '0.000008' },
    {},
    { cachedInputPico: 6n, cacheWritePico: 8n, cacheWrite1hPico: 13n },
  ],
])('a tier %s bills a cache as its base price does, in proportion and rounded up', (_, base, tier, expected) => {
  const tiers = [{ above: 1, input: '0.000006', output: '1', ...tier }]
  expect(parsePrice({ input: '0.000004', output: '1', ...base, tiers }).tiers[0]).toMatchObject(expected)
})

test('a tier of a base price that costs nothing bills cache writes no lower than either', () => {
  const tiers = [{ above: 1, input: '3', output: '1' }]
  const [tier] = parsePrice({ input: '0', output: '1', cacheWrite: '2', tiers }).tiers
  expect(tier).toMatchObject({ cacheWritePico: 3_000_000n })
})

test('the price that a row states is that of its tier, and reads back as it was charged', () => {
  const price = parsePrice({ ...TIERED, cacheWrite: '6', cacheWrite1h: '10', request: '0.5' })
  expect(statePrice(priceAt(price, 272_000))).not.toHaveProperty('above')
  const stated = statePrice(priceAt(price, 272_001))
  expect(stated).toEqual({ ...LONG, cacheWrite: '12', cacheWrite1h: '20', request: '0.5' })
  const quantities = bought({ prompt: 300_000, cached: 5, cacheWrite: 50, cacheWrite1h: 20, completion: 7 })
  expect(costOf(parsePrice(stated), quantities)).toBe(costOf(price, quantities))
})

test('tokens written to a cache for an hour have a price of their own', () => {
  const price = parsePrice({ input: '1', output: '2', cacheWrite: '1.25', cacheWrite1h: '2' })
  const quantities = bought({ prompt: 100, cacheWrite: 50, cacheWrite1h: 20 })
  expect(costOf(price, quantities)).toBe(50n * 1_000n + 30n * 1_250n + 20n * 2_000n)
})

const SEEDS = Array.from({ length: 400 }, (_, seed) => seed)

test('over random prices with tiers a hold is the dearest of all charges within its bounds, and no less', () => {
  for (const seed of SEEDS) {
    const random = new Random(seed)
    const [price, worst] = [randomPrice(random), randomWorst(random)]
    const charges = countsWithin(worst).map((counts) => costOf(price, counts))
    const dearest = charges.reduce((most, charge) => (charge > most ? charge : most), 0n)
    expect([seed, worstCostOf(price, worst)]).toEqual([seed, dearest])
  }
})

test('over random prices with tiers no charge of random counts within the bounds is above the hold', () => {
  for (const seed of SEEDS) {
    const random = new Random(seed)
    const [price, worst] = [randomPrice(random), randomWorst(random)]
    for (let i = 0; i < 50; i++) {
      const charge = costOf(price, randomCounts(random, worst))
      expect([seed, charge <= worstCostOf(price, worst)]).toEqual([seed, true])
    }
  }
})

test('over random prices with tiers a balance affords the most tokens whose hold it covers', () => {
  for (const seed of SEEDS) {
    const random = new Random(seed)
    const [price, worst] = [randomPrice(random), randomWorst(random)]
    const available = BigInt(random.below(200))
    const tokens = affordableTokens(price, worst, available)
    const holdFor = (completionTokens: number) => worstCostOf(price, { ...worst, completionTokens })
    if (tokens === Number.POSITIVE_INFINITY) expect([seed, holdFor(10 ** 9) <= available]).toEqual([seed, true])
    else expect([seed, holdFor(tokens + 1) > available]).toEqual([seed, true])
    if (tokens >= 0 && tokens < Number.POSITIVE_INFINITY) {
      expect([seed, holdFor(tokens) <= available]).toEqual([seed, true])
    }
  }
})

function randomPrice(random: Random): Price {
  const amount = () => (random.chance(0.2) ? '0' : `0.000${String(random.below(1_000)).padStart(3, '0')}`)
  const maybe = (name: string) => (random.chance(0.4) ? { [name]: amount() } : {})
  const tokens = () => ({
    input: amount(),
    output: amount(),
    ...Object.assign({}, ...PARTS.map(({ kind }) => maybe(kind))),
  })
  let above = 0
  const tiers = Array.from({ length: random.below(5) }, () => {
    above += 1 + random.below(12)
    return { above, ...tokens() }
  })
  const pieces = { request: '0.00000001', image: '0.000000003' }
  // A hold covers the prices of cache writes that are stated.
  const writes = Object.fromEntries(WRITES.map(({ kind }) => [kind, amount()]))
  return parsePrice({ ...tokens(), ...writes, ...(random.chance(0.5) && pieces), tiers })
}

function randomWorst(random: Random): WorstCase {
  return { promptTokens: random.below(50), completionTokens: random.below(50), pieces: piecesOf(random.below(3)) }
}

const piecesOf = (images: number): WorstCase['pieces'] => [
  { count: 1, of: ['requestPico'] },
  { count: images, of: ['imagePico'] },
]
const imagesOf = ({ pieces }: WorstCase) => pieces[1]?.count ?? 0

/** Every prompt within the bound, all of it of one kind: what lies between two kinds costs no more than the dearer one. */
function countsWithin(worst: WorstCase): Quantities[] {
  const { promptTokens, completionTokens } = worst
  const prompts = Array.from({ length: promptTokens + 1 }, (_, prompt) => prompt)
  return prompts.flatMap((prompt) => {
    const all = bought({ prompt, completion: completionTokens, images: imagesOf(worst) })
    const parts = PARTS.map(({ of, quantity }) => ({
      ...all,
      ...(of !== 'input' && { [of]: prompt }),
      [quantity]: prompt,
    }))
    return [all, ...parts]
  })
}

function randomCounts(random: Random, worst: WorstCase): Quantities {
  const prompt = random.below(worst.promptTokens + 1)
  const parts = Object.fromEntries(PARTS.map(({ quantity }) => [quantity, random.below(prompt + 1)]))
  return {
    ...NO_QUANTITIES,
    prompt,
    ...partsWithin(prompt, parts),
    completion: random.below(worst.completionTokens + 1),
    images: random.below(imagesOf(worst) + 1),
  }
}

function faultsOf(price: object, more: object = {}): readonly string[] {
  const routes = [{ provider: 'up', model: 'm' }]
  const parsed = parseCatalog({
    providers: { up: { type: 'openai', baseUrl: 'https://up.example/v1' } },
    models: [{ id: 'm', contextLength: 1_000, maxOutputTokens: 10, price, routes, ...more }],
  })
  return 'faults' in parsed ? parsed.faults : []
}

const tiersAbove = (...points: unknown[]) => points.map((above) => ({ above, input: '1', output: '1' }))

test.each<[string, object, RegExp]>([
  ['five tiers', { tiers: tiersAbove(1, 2, 3, 4, 5) }, /^models\[0\]\.price\.tiers: must be at most 4 tiers/],
  ['tiers that fall', { tiers: tiersAbove(2, 1) }, /price\.tiers: must rise/],
  ['tiers that begin at one point', { tiers: tiersAbove(2, 2) }, /price\.tiers: must rise/],
  ['a tier above nothing', { tiers: tiersAbove(0) }, /price\.tiers\[0\]\.above/],
  ['a tier above a part of a token', { tiers: tiersAbove(1.5) }, /price\.tiers\[0\]\.above/],
  ['a tier above a text', { tiers: tiersAbove('1') }, /price\.tiers\[0\]\.above/],
  ['a tier without an output', { tiers: [{ above: 1, input: '1' }] }, /price\.tiers\[0\]\.output/],
  ['a tier with a request', { tiers: [{ ...LONG, request: '1' }] }, /price\.tiers\[0\]: .*request/],
  ['a price of an hour without one of a cache write', { cacheWrite1h: '2' }, /price\.cacheWrite1h: must stand beside/],
])('a catalog with %s is refused', (_, more, fault) => {
  expect(faultsOf({ input: '1', output: '1', ...more })).toEqual([expect.stringMatching(fault)])
})

test('a catalog may have four tiers that rise, and an embedding model none', () => {
  expect(faultsOf({ input: '1', output: '1', tiers: tiersAbove(1, 2, 3, 4) })).toEqual([])
  const embedding = { kind: 'embedding', dimensions: 3 }
  expect(faultsOf({ input: '1', tiers: tiersAbove(1) }, embedding)).toContainEqual(
    expect.stringMatching(/^models\[0\]\.price: there is no field 'tiers'/),
  )
})
