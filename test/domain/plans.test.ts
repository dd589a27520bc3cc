import { expect, test } from '@jest/globals'
import { parseFactor, scaledPrice } from '../../layers/gateway/domain/money/plan.ts'
import {
  billLines,
  costOf,
  isStated,
  NO_QUANTITIES,
  type PriceStrings,
  parsePrice,
  priceAt,
  type RangePrice,
  statePrice,
} from '../../layers/gateway/domain/money/price.ts'
import { PRICE_ROWS } from '../../layers/gateway/domain/money/price-kinds.ts'
import { worstCostOf } from '../../layers/gateway/domain/money/priced-request.ts'
import { Random } from '../simulation/random.ts'

test.each(['0.0001', '1', '1.25', '0.5000', '100', '100.0000'])('%s is a factor', (text) => {
  expect(parseFactor(text)).toBe(BigInt(Math.round(Number(text) * 10_000)))
})

test.each([
  '0',
  '0.0000',
  '100.0001',
  '101',
  '1e3',
  'abc',
  '1.00001',
  '',
  '-1',
  '+1',
  ' 1',
  '01',
  '1.',
  '9'.repeat(99),
])("'%s' is no factor", (text) => expect(parseFactor(text)).toBeUndefined())

const RANDOM = new Random(39)
const token = () => `${RANDOM.below(40)}.${String(RANDOM.below(1_000_000)).padStart(6, '0')}`
const piece = () => `0.${String(RANDOM.below(1_000_000_000)).padStart(9, '0')}`
const tokens = () => ({ input: token(), output: token(), ...(RANDOM.chance(0.5) && { cacheWrite: token() }) })

function randomPrice(): PriceStrings {
  return {
    ...tokens(),
    ...(RANDOM.chance(0.5) && { cachedInput: token() }),
    ...(RANDOM.chance(0.5) && { request: piece(), image: piece() }),
    ...(RANDOM.chance(0.5) && { tiers: [{ above: 1_000, ...tokens() }] }),
    ...(RANDOM.chance(0.3) && { serviceTiers: { flex: tokens() } }),
  }
}

test('every price of a plan is the factor times that of the catalog, rounded up by less than a picocredit, and its rows explain their charges', () => {
  for (let i = 0; i < 2_000; i++) {
    const base = parsePrice(randomPrice())
    const factor = formatted(1 + RANDOM.below(1_000_000))
    const ours = scaledPrice(base, factor)
    const by = parseFactor(factor) ?? 0n
    const expectScaled = (is: RangePrice, was: RangePrice) => {
      for (const { pico } of PRICE_ROWS) {
        const above = is[pico] * 10_000n - was[pico] * by
        expect([above >= 0n, above < 10_000n]).toEqual([true, true])
      }
    }
    expectScaled(ours, base)
    for (const [at, tier] of base.tiers.entries()) expectScaled(ours.tiers[at] as RangePrice, tier)
    for (const [name, tier] of base.serviceTiers) expectScaled(ours.serviceTiers.get(name) as RangePrice, tier)
    const [prompt, completion, images] = [RANDOM.below(3_000), RANDOM.below(3_000), RANDOM.below(3)]
    const quantities = { ...NO_QUANTITIES, prompt, completion, cached: RANDOM.below(prompt + 1), images }
    const pieces = [{ count: 1, of: ['requestPico'] } as const, { count: images, of: ['imagePico'] } as const]
    const tier = RANDOM.chance(0.3) ? 'flex' : undefined
    const range = priceAt(ours, prompt, tier)
    const charge = costOf(ours, quantities, tier)
    const sum = billLines(range, quantities).reduce((all, { amountPico }) => all + amountPico, 0n)
    expect(charge).toBe((sum + 999n) / 1_000n)
    expect(charge).toBeLessThanOrEqual(
      worstCostOf(ours, { promptTokens: prompt, completionTokens: completion, pieces }),
    )
    const stated = statePrice(range)
    expect([isStated(stated), costOf(parsePrice(stated), quantities)]).toEqual([true, charge])
  }
})

const formatted = (tenThousandths: number) =>
  `${Math.floor(tenThousandths / 10_000)}.${String(tenThousandths % 10_000).padStart(4, '0')}`

test('a free model stays free, and a factor of 1 changes nothing', () => {
  const free = parsePrice({ input: '0', output: '0' })
  expect(scaledPrice(free, '100')).toEqual(free)
  const price = parsePrice(randomPrice())
  expect(scaledPrice(price, '1')).toEqual(price)
})
