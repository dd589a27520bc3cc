import { gzipSync } from 'node:zlib'
import { beforeAll, expect, jest, test } from '@jest/globals'
import { anthropicPage, type Books, day, dayMs, openAiPage, openBooks } from './support/bills.ts'

jest.setTimeout(120_000)

let books: Books
beforeAll(async () => {
  books = await openBooks(() => [])
})

const DAYS = { 3: [['gpt-4o, input', 1]], 2: [] } as const
const PAGE = openAiPage(DAYS)
const changed = (change: (data: { start_time: unknown; end_time: unknown; results: unknown }) => void) => {
  const page = openAiPage(DAYS) as { data: { start_time: unknown; end_time: unknown; results: unknown }[] }
  if (page.data[0]) change(page.data[0])
  return page
}
const ACTIVITY = 'date,model,endpoint_id,usage'
const CUR =
  'identity/LineItemId,identity/TimeInterval,lineItem/UsageStartDate,lineItem/UsageEndDate,lineItem/ProductCode,lineItem/UsageType,lineItem/UnblendedCost,lineItem/CurrencyCode'
const curRow = (id: string, cost = '1', currency = 'USD', from = `${day(3)}T00:00:00Z`, to = `${day(2)}T00:00:00Z`) =>
  `${id},x,${from},${to},AmazonBedrock,USE1-NovaPro-input-tokens,${cost},${currency}`

type Bills = Readonly<Record<string, object | string>>

test.each<[string, string, Bills, string]>([
  ['another currency', 'openai', { 'a.json': openAiPage(DAYS, {}, 'eur') }, "is in the currency 'eur'"],
  ['no currency', 'anthropic', { 'a.json': anthropicPage({ 3: [['m', 1]] }, 'Z', '') }, "is in the currency ''"],
  ['another currency of AWS', 'aws', { 'a.csv': `${CUR}\n${curRow('1', '1', 'CNY')}` }, "is in the currency 'CNY'"],
  ['half a file of JSON', 'openai', { 'a.json': JSON.stringify(PAGE).slice(0, -20) }, 'is not JSON that can be read'],
  [
    'half a file of CSV',
    'aws',
    { 'a.csv': `${CUR}\n${curRow('1')}\n2,x,20` },
    'has 3 cells in its row 3, not 8: it was cut off',
  ],
  [
    'half a packed file',
    'aws',
    { 'a.gz': gzipSync(`${CUR}\n${curRow('1')}`).subarray(0, 60) },
    'is not whole, or damaged',
  ],
  ['an open quote', 'openrouter', { 'a.csv': `${ACTIVITY}\n${day(3)},"m,e,1` }, 'has a quote that is not closed'],
  [
    'a page that is not the last',
    'openai',
    { 'a.json': openAiPage(DAYS, { has_more: true, next_page: 'page_2' }) },
    'the last page of the bill is missing',
  ],
  [
    'a page before others',
    'openai',
    { 'a.json': openAiPage(DAYS, { has_more: true }) },
    'the last page of the bill is missing',
  ],
  ['a file twice', 'openai', { 'a.json': PAGE, 'b.json': PAGE }, `is in the bill twice (${day(3)})`],
  [
    'overlapping days',
    'anthropic',
    { 'a.json': anthropicPage({ 4: [], 3: [] }), 'b.json': anthropicPage({ 3: [], 2: [] }) },
    `twice (${day(3)})`,
  ],
  [
    'a line of AWS twice',
    'aws',
    { 'a.csv': `${CUR}\n${curRow('1')}`, 'b.csv': `${CUR}\n${curRow('1')}` },
    'is in the bill twice (1 x)',
  ],
  [
    'a day of OpenRouter twice',
    'openrouter',
    { 'a.csv': `${ACTIVITY}\n${day(3)},m,e,1\n${day(3)},m,e,1` },
    'is in the bill twice',
  ],
  [
    'a generation twice',
    'openrouter',
    { 'a.csv': `generation_id,created_at,cost_total,model_permaslug\ng,${day(3)},1,m\ng,${day(3)},1,m` },
    'twice (g)',
  ],
  [
    'days of another zone',
    'openai',
    {
      'a.json': changed((one) =>
        Object.assign(one, { start_time: dayMs(3) / 1000 + 18_000, end_time: dayMs(2) / 1000 + 18_000 }),
      ),
    },
    'is not within a UTC day',
  ],
  [
    'days of another zone in words',
    'anthropic',
    { 'a.json': anthropicPage({ 3: [] }, '-05:00') },
    'is not within a UTC day',
  ],
  [
    'days of another zone at AWS',
    'aws',
    { 'a.csv': `${CUR}\n${curRow('1', '1', 'USD', `${day(3)}T00:00:00+09:00`, `${day(2)}T00:00:00+09:00`)}` },
    'is not within a UTC day',
  ],
  [
    'hours in the place of days',
    'openai',
    { 'a.json': changed((one) => Object.assign(one, { end_time: dayMs(3) / 1000 + 3600 })) },
    'is for less than a day',
  ],
  [
    'a month in one bucket',
    'openai',
    { 'a.json': changed((one) => Object.assign(one, { end_time: dayMs(-27) / 1000 })) },
    'is not within a UTC day',
  ],
  [
    'an end before the beginning',
    'openai',
    { 'a.json': changed((one) => Object.assign(one, { end_time: dayMs(4) / 1000 })) },
    'is not within a UTC day',
  ],
  [
    'a time that is none',
    'openai',
    { 'a.json': changed((one) => Object.assign(one, { start_time: 'yesterday' })) },
    "has the time 'yesterday', which is none",
  ],
  [
    '30 February',
    'openrouter',
    { 'a.csv': `${ACTIVITY}\n2026-02-30,m,e,1` },
    "has the time '2026-02-30', which is none",
  ],
  [
    'an amount that is none',
    'openai',
    { 'a.json': openAiPage({ 3: [['m, input', 'a lot']] }) },
    "has the amount 'a lot', which is no number",
  ],
  [
    'an amount of 1e400',
    'anthropic',
    { 'a.json': JSON.stringify(anthropicPage({ 3: [['m', 'X']] })).replace('"X"', '1e400') },
    "has the amount '1e400'",
  ],
  ['an amount with a comma', 'openrouter', { 'a.csv': `${ACTIVITY}\n${day(3)},m,e,"1,5"` }, "has the amount '1,5'"],
  ['an empty amount', 'aws', { 'a.csv': `${CUR}\n${curRow('1', '')}` }, "has the amount ''"],
  [
    'an amount twice',
    'openai',
    { 'a.json': JSON.stringify(PAGE).replace('"value":1', '"value":1,"value":2') },
    "has the amount ''",
  ],
  ['no results', 'openai', { 'a.json': changed((one) => Object.assign(one, { results: null })) }, 'has no results'],
  [
    'another bill',
    'anthropic',
    { 'a.json': PAGE },
    "The bill is one of OpenAI, and the provider 'anthropic' sends bills of Anthropic.",
  ],
  [
    'usage in the place of costs',
    'openai',
    { 'a.json': { data: [{ id: 'x' }] } },
    'is no line of a bill of OpenAI (costs), Anthropic',
  ],
  ['an error of an API', 'openai', { 'a.json': { error: { message: 'no' } } }, "has no list 'data'"],
  ['pages without a day', 'openai', { 'a.json': [{ data: [] }] }, 'there is no line of a bill of OpenAI'],
  ['an empty file', 'aws', { 'a.csv': '' }, 'has no row of a bill'],
  ['an empty file beside others', 'aws', { 'a.csv': `${CUR}\n${curRow('1')}`, 'b.csv': CUR }, 'b.csv has no row'],
  ['a table of something else', 'aws', { 'a.csv': 'a,b\n1,2' }, 'is no line of a bill of OpenAI'],
  [
    'a column twice',
    'aws',
    { 'a.csv': `${CUR},lineItem/UnblendedCost\n${curRow('1')},9` },
    'two columns of the same name',
  ],
  [
    'files of two kinds',
    'openai',
    { 'a.json': PAGE, 'b.csv': `${ACTIVITY}\n${day(3)},m,e,1` },
    'are of different bills',
  ],
  [
    'bills of two providers',
    'openai',
    { 'a.json': PAGE, 'b.json': anthropicPage({ 3: [], 2: [] }) },
    'are of different bills',
  ],
  ['a bomb', 'aws', { 'a.gz': gzipSync(Buffer.alloc(65 * 1024 * 1024, 32)) }, 'unpacked, has more than 64 MB'],
  [
    'a provider that is not there',
    '__proto__',
    { 'a.json': PAGE },
    "There is no provider '__proto__' (there is: openai, anthropic, openrouter, aws).",
  ],
])('%s is refused in words, and nothing is compared', async (_, provider, bills, why) => {
  const { code, stdout, stderr } = await books.reconcile(provider, bills)
  expect({ code, stdout }).toEqual({ code: 1, stdout: '' })
  expect(stderr).toContain(why)
  expect(stderr.length).toBeLessThan(600)
})

test.each<[string[], string]>([
  [['--from', '7d'], 'must be UTC days'],
  [['--from', day(3), '--to', `${day(2)}T12:00:00Z`], 'must be UTC days'],
  [['--from', 'today'], 'There is no whole day'],
  [['--from', day(1), '--to', day(3)], 'There is no whole day'],
  [['--from', '2020-01-01'], 'There may be at most 366 days.'],
  [['--from', day(3), '--tolerance', '-1'], 'It must be a percentage'],
  [['--from', day(3), '--tolerance', '101'], 'It must be a percentage'],
])('the range or tolerance %j is refused', async (args, why) => {
  const { code, stderr } = await books.reconcile('openai', { 'a.json': PAGE }, ...args)
  expect([code, stderr.includes(why)]).toEqual([1, true])
})

test('a refund is less than nothing, and a day without usage is no difference', async () => {
  const refund = await books.reconcile('openai', { 'a.json': openAiPage({ 3: [['refund', -2]], 2: [] }) }, '--json')
  expect(JSON.parse(refund.stdout)).toMatchObject({ data: [{ billed: '-2', difference: '-2' }], ok: false })
  expect(await books.reconcile('openai', { 'a.json': openAiPage({ 3: [], 2: [] }) })).toMatchObject({ code: 0 })
})

test('a name on a bill that a spreadsheet or a terminal would obey is disarmed', async () => {
  const bill = { 'a.json': openAiPage({ 3: [['=HYPERLINK("x")\u001b[2J', 1]], 2: [] }) }
  const csv = await books.reconcile('openai', bill, '--csv')
  expect(csv.stdout).toContain(`"'=HYPERLINK(""x"")`)
  for (const { stdout } of [csv, await books.reconcile('openai', bill)]) expect(stdout).not.toContain('\u001b')
})
