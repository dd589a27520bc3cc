import { expect, test } from '@jest/globals'
import { jsonLines, lineOf } from '../../console/pages/catalog/json-lines.ts'
import { keysCsv } from '../../console/parts/csv.ts'
import { costOf, marginText } from '../../console/parts/models.ts'
import { lastsText, shortAmount, ticksTo } from '../../console/parts/numbers.ts'
import { sampleKey } from './support/samples.ts'

/** Its types are of a browser. */
const SUGGEST: string = '../../console/parts/suggest.ts'

test('every value of a JSON text has its line, and a field that is missing the line of what lacks it', () => {
  const text = '{\n  "models": [\n    {\n      "id": "a\\"]",\n      "price": { "input": "1" }\n    }, 5\n  ]\n}'
  const places = jsonLines(text)
  expect(lineOf(places, 'models')).toBe(2)
  expect(lineOf(places, 'models[0].id')).toBe(4)
  expect(lineOf(places, 'models[0].price.output')).toBe(5)
  expect(lineOf(places, 'models[1]')).toBe(6)
  expect(lineOf(places, 'catalog')).toBe(1)
})

test.each([
  ['{\n  "a": 1,\n  "b" 2\n}', 3],
  ['{\n  "a": [1, 2\n}', 3],
  ['{ "a": tru\n}', 1],
])('a text that is no JSON is broken at its line: %j', (text, line) => {
  expect(jsonLines(text).brokenAt).toBe(line)
})

test('the margin is of the price, over the dearest route', () => {
  const route = { provider: 'a', model: 'b' }
  const model = { id: 'm', routes: [{ ...route, cost: { input: '0.9' } }, { ...route, cost: { input: '10' } }, route] }
  expect(costOf(model, 'input')).toBe('10')
  expect([marginText('12.5', '10'), marginText('8', '10'), marginText('0', '1'), marginText('1', undefined)]).toEqual([
    '20 %',
    '−25 %',
    undefined,
    undefined,
  ])
})

test.each([
  ['12', 'Lasts about 12 days at the last week’s rate.'],
  ['0.0416', 'Lasts about 1 hour at the last week’s rate.'],
  ['1000000', 'Lasts more than a year at the last week’s rate.'],
  ['-1', 'No credits left: requests are refused.'],
])('a balance of %s with a charge of 1 a day: %s', (balance, text) => {
  const days = Array.from({ length: 12 }, (_, i) => ({ day: `2026-03-${i + 10}`, cost: i < 5 ? '100' : '1' }))
  expect(lastsText(balance, days.with(-1, { day: '2026-03-21', cost: '0.5' }), Date.parse('2026-03-21T12:00Z'))).toBe(
    text,
  )
  expect(lastsText('5', [], 0)).toBe('Nothing was charged in the last week.')
})

test('exported keys keep every digit, and no name is run by a spreadsheet', () => {
  const [, line] = keysCsv([sampleKey(1, { name: '=1+1', available: '-0.000000001', note: 'a, "b"' })]).split('\r\n')
  expect(line).toContain(`,'=1+1,cus_1,active,xxx1,25,-0.000000001,0,4.123456789,`)
  expect(line).toContain('"a, ""b"""')
})

test('of a secret only the last four may leave the page, and of one that is not whole nothing', async () => {
  const { askedText } = await import(SUGGEST)
  const body = 'aB3'.repeat(14)
  expect(askedText(` svc_live_${body}x `)).toBe(`${body}x`.slice(-4))
  expect(askedText(`${body}x`)).toBe(`${body}x`.slice(-4))
  expect([askedText('svc_live_aB'), askedText('svc_live_'), askedText(`svc_live_${body}`)]).toEqual(['', '', ''])
  expect(askedText(`svc_live_${body}`, true)).toBe(body.slice(-4))
  expect([askedText('acme'), askedText('req_01K9TQ4Z8M3V7C5XWB2N6RHJDE')]).toEqual([
    'acme',
    'req_01K9TQ4Z8M3V7C5XWB2N6RHJDE',
  ])
})

test('the ticks of a count are whole, and those of an amount as fine as it needs', () => {
  expect([ticksTo(2, true), ticksTo(3, true), ticksTo(90, true)]).toEqual([
    [0, 1, 2],
    [0, 1, 2, 3],
    [0, 50, 100],
  ])
  expect(ticksTo(2)).toEqual([0, 0.5, 1, 1.5, 2])
})

test.each([
  ['0', '0'],
  ['0.000000000', '0'],
  ['182.4', '182.40'],
  ['1234567.891', '1,234,567.89'],
  ['0.175362552', '0.1754'],
  ['0.5', '0.50'],
  ['0.0109224', '0.01092'],
  ['0.00002', '0.00002'],
  ['0.000000001', '0.000000001'],
  ['0.99996', '1.00'],
  ['999.995', '1,000.00'],
  ['-0.12345', '-0.1235'],
  ['-12', '-12.00'],
  ['123456789012345678.999999999', '123,456,789,012,345,679.00'],
])('the amount %s is shown as %s', (amount, shown) => {
  expect(shortAmount(amount)).toBe(shown)
})
