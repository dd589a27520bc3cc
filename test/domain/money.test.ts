import { describe, expect, test } from '@jest/globals'
import { formatCredits, parseCredits } from '../../layers/gateway/domain/money/money.ts'
import {
  costOf,
  formatPerToken,
  NO_QUANTITIES,
  parsePrice,
  type Quantities,
} from '../../layers/gateway/domain/money/price.ts'
import { moneyLiteral } from '../../layers/gateway/wire/money/money-literal.ts'

test.each(['0', '7', '0.000000001', '0.00002', '12.5', '123456789012.000000001'])(
  'an amount of %s credits is written into JSON as that number, digit for digit',
  (text) => {
    expect(JSON.stringify({ cost: moneyLiteral(parseCredits(text) ?? -1n) })).toBe(`{"cost":${text}}`)
  },
)

test.each([
  ['0', 0n],
  ['1', 1_000_000_000n],
  ['0.000000001', 1n],
  ['12.5', 12_500_000_000n],
  ['123456789012.000000001', 123_456_789_012_000_000_001n],
])('an amount of %s credits is read as %s nanocredits and written back the same', (text, nano) => {
  expect(parseCredits(text)).toBe(nano)
  expect(formatCredits(nano)).toBe(text)
})

test.each(['', '-1', '+1', '1e3', '1.', '.5', '01', '0x10', '1,5', ' 1', '0.0000000001', 'NaN', 'Infinity'])(
  'the text %j is not accepted as an amount of credits',
  (text) => {
    expect(parseCredits(text)).toBeUndefined()
  },
)

function bought(quantities: Partial<Quantities>): Quantities {
  return { ...NO_QUANTITIES, ...quantities }
}

describe('prices', () => {
  const price = parsePrice({ input: '0.15', output: '0.60', cachedInput: '0.075' })

  test('a cost is exact and rounded up once, to the nanocredit', () => {
    const least = parsePrice({ input: '0.000001', output: '0' })
    expect(costOf(price, bought({ prompt: 1 }))).toBe(150n)
    expect([1, 1001].map((prompt) => costOf(least, bought({ prompt })))).toEqual([1n, 2n])
    expect(costOf(price, bought({ prompt: 1_000_000, completion: 1_000_000 }))).toBe(750_000_000n)
  })

  test('cached tokens are charged at their own price', () => {
    expect(costOf(price, bought({ prompt: 1000, cached: 600, completion: 0 }))).toBe(400n * 150n + 600n * 75n)
  })

  test('cache writes, the request and its images are charged at prices of their own', () => {
    const full = parsePrice({ input: '1', output: '2', cacheWrite: '1.25', request: '0.001', image: '0.000000005' })
    const quantities = bought({ prompt: 1000, cacheWrite: 400, completion: 10, images: 3 })
    expect(costOf(full, quantities)).toBe(600_000n + 500_000n + 20_000n + 1_000_000n + 15n)
  })

  test('a price per token is shown as a plain decimal', () => {
    expect(formatPerToken(price.inputPico)).toBe('0.00000015')
    expect(formatPerToken(parsePrice({ input: '10', output: '0' }).inputPico)).toBe('0.00001')
  })
})
