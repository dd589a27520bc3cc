import { gzipSync } from 'node:zlib'
import { expect, test } from '@jest/globals'
import { anthropicPage, type Bills, day, dayMs, openAiPage, openBooks } from './support/bills.ts'

const books = await openBooks(() => [])

const DAYS = { 3: [['gpt-4o, input', 1]], 2: [] } as const
const PAGE = openAiPage(DAYS)
const a = (bill: object | string): Bills => ({ 'a.json': bill })
const table = (...rows: readonly string[]): Bills => ({ 'a.csv': rows.join('\n') })
/** OpenAI's costs whose first day has other fields. */
const firstDay = (change: object) => {
  const { data, ...page } = PAGE as { data: object[] }
  return a({ ...page, data: [{ ...data[0], ...change }, ...data.slice(1)] })
}
const secondsOf = (daysAgo: number) => dayMs(daysAgo) / 1000
const ACTIVITY = 'date,model,endpoint_id,usage'
const GENERATIONS = 'generation_id,created_at,cost_total,model_permaslug'
const ITEM = 'lineItem/'
const CUR = `identity/LineItemId,identity/TimeInterval,${ITEM}UsageStartDate,${ITEM}UsageEndDate,${ITEM}ProductCode,${ITEM}UsageType,${ITEM}UnblendedCost,${ITEM}CurrencyCode`
const curRow = (id: string, cost = '1', currency = 'USD', zone = 'Z') =>
  `${id},x,${day(3)}T00:00:00${zone},${day(2)}T00:00:00${zone},AmazonBedrock,USE1-NovaPro-input-tokens,${cost},${currency}`
const AWS = `${CUR}\n${curRow('1')}`
const NOT_WITHIN = 'is not within a UTC day'
const NOT_LAST = 'is not the last page of the bill'
const NO_BILL = 'is no line of a bill of OpenAI (costs), Anthropic'
const OVERLAP = { ...a(anthropicPage({ 4: [], 3: [] })), 'b.json': anthropicPage({ 3: [], 2: [] }) }
const LATER = { start_time: secondsOf(3) + 18_000, end_time: secondsOf(2) + 18_000 }
const HUGE = JSON.stringify(anthropicPage({ 3: [['m', 'X']] })).replace('"X"', '1e400')
const TWO_VALUES = JSON.stringify(PAGE).replace('"value":1', '"value":1,"value":2')
const THERE_ARE = 'openai, anthropic, openrouter, aws'

test.each<[string, string, Bills, string]>([
  ['another currency', 'openai', a(openAiPage(DAYS, {}, 'eur')), "is in the currency 'eur'"],
  ['no currency', 'anthropic', a(anthropicPage({ 3: [['m', 1]] }, 'Z', '')), "is in the currency ''"],
  ['another currency of AWS', 'aws', table(CUR, curRow('1', '1', 'CNY')), "is in the currency 'CNY'"],
  ['half a file of JSON', 'openai', a(JSON.stringify(PAGE).slice(0, -20)), 'is not JSON that can be read'],
  ['half a file of CSV', 'aws', table(AWS, '2,x,20'), 'has 3 cells in its row 3, not 8: it was cut off'],
  ['half a packed file', 'aws', a(gzipSync(AWS).subarray(0, 60)), 'is not whole, or damaged'],
  ['an open quote', 'openrouter', table(ACTIVITY, `${day(3)},"m,e,1`), 'has a quote that is not closed'],
  ['a quote within a cell', 'openrouter', table(ACTIVITY, `${day(3)},m"n",e,1`), 'or stands within a cell (line 2)'],
  ['a page with a next one', 'openai', a(openAiPage(DAYS, { next_page: 'page_2' })), NOT_LAST],
  ['a page before others', 'openai', a(openAiPage(DAYS, { has_more: true })), NOT_LAST],
  ['a file twice', 'openai', { ...a(PAGE), 'b.json': PAGE }, `is in the bill twice (${day(3)})`],
  ['overlapping days', 'anthropic', OVERLAP, `twice (${day(3)})`],
  ['a line of AWS twice', 'aws', { 'a.csv': AWS, 'b.csv': AWS }, 'is in the bill twice (1 x)'],
  ['a day twice', 'openrouter', table(ACTIVITY, `${day(3)},m,e,1`, `${day(3)},m,e,1`), 'is in the bill twice'],
  ['a generation twice', 'openrouter', table(GENERATIONS, `g,${day(3)},1,m`, `g,${day(3)},1,m`), 'twice (g)'],
  ['days of another zone', 'openai', firstDay(LATER), NOT_WITHIN],
  ['days of another zone in words', 'anthropic', a(anthropicPage({ 3: [] }, '-05:00')), NOT_WITHIN],
  ['days of another zone at AWS', 'aws', table(CUR, curRow('1', '1', 'USD', '+09:00')), NOT_WITHIN],
  ['hours in the place of days', 'openai', firstDay({ end_time: secondsOf(3) + 3600 }), 'is for less than a day'],
  ['a month in one bucket', 'openai', firstDay({ end_time: secondsOf(-27) }), NOT_WITHIN],
  ['an end before the beginning', 'openai', firstDay({ end_time: secondsOf(4) }), NOT_WITHIN],
  ['a time that is none', 'openai', firstDay({ start_time: 'yesterday' }), "has the time 'yesterday', which is none"],
  ['a day without an end', 'openai', firstDay({ end_time: null }), "has the time '', which is none"],
  ['30 February', 'openrouter', table(ACTIVITY, '2026-02-30,m,e,1'), "has the time '2026-02-30', which is none"],
  ['no number', 'openai', a(openAiPage({ 3: [['m', 'a lot']] })), "has the amount 'a lot', which is no number"],
  ['an amount of 1e400', 'anthropic', a(HUGE), "has the amount '1e400'"],
  ['an amount with a comma', 'openrouter', table(ACTIVITY, `${day(3)},m,e,"1,5"`), "has the amount '1,5'"],
  ['an empty amount', 'aws', table(CUR, curRow('1', '')), "has the amount ''"],
  ['an amount twice', 'openai', a(TWO_VALUES), "has the amount ''"],
  ['no results', 'openai', firstDay({ results: null }), 'has no results'],
  ['another bill', 'anthropic', a(PAGE), "is one of OpenAI, and the provider 'anthropic' sends bills of Anthropic."],
  ['usage in the place of costs', 'openai', a({ data: [{ id: 'x' }] }), NO_BILL],
  ['an error of an API', 'openai', a({ error: { message: 'no' } }), "has no list 'data'"],
  ['pages without a day', 'openai', a([{ data: [] }]), 'There is no line of a bill of OpenAI'],
  ['an empty file', 'aws', table(''), 'has no row of a bill'],
  ['an empty file beside others', 'aws', { 'a.csv': AWS, 'b.csv': CUR }, 'b.csv has no row'],
  ['a table of something else', 'aws', table('a,b', '1,2'), NO_BILL],
  ['a column twice', 'aws', table(`${CUR},lineItem/UnblendedCost`, `${curRow('1')},9`), 'two columns of the same name'],
  ['files of two kinds', 'openai', { ...a(PAGE), ...table(ACTIVITY, `${day(3)},m,e,1`) }, 'is of another bill'],
  ['bills of two providers', 'openai', { ...a(PAGE), 'b.json': anthropicPage(DAYS) }, 'is of another bill'],
  ['a bomb', 'aws', a(gzipSync(Buffer.alloc(65 * 1024 * 1024, 32))), 'unpacked, has more than 64 MB'],
  ['no such provider', '__proto__', a(PAGE), `There is no provider '__proto__' (there is: ${THERE_ARE}).`],
])('%s is refused in words, and nothing is compared', async (_, provider, bills, why) => {
  const { code, stdout, stderr } = await books.reconcile(provider, bills)
  expect({ code, stdout }).toEqual({ code: 1, stdout: '' })
  expect(stderr).toContain(why)
  expect(stderr.length).toBeLessThan(600)
})

test.each<[string[], string]>([
  [['--from', '7h'], 'must be UTC days'],
  [['--from', day(3), '--to', `${day(2)}T12:00:00Z`], 'must be UTC days'],
  [['--from', 'today'], 'There is no whole day'],
  [['--from', day(1), '--to', day(3)], 'There is no whole day'],
  [['--from', '2020-01-01'], 'There may be at most 366 days.'],
  [['--from', day(3), '--tolerance', '-1'], 'It must be a percentage'],
  [['--from', day(3), '--tolerance', '101'], 'It must be a percentage'],
])('the range or tolerance %j is refused', async (args, why) => {
  const { code, stderr } = await books.reconcile('openai', a(PAGE), ...args)
  expect([code, stderr.includes(why)]).toEqual([1, true])
})

test('a period is one of whole days before today', async () => {
  const { stdout } = await books.reconcile('openai', a(openAiPage({ 3: [], 2: [] })), '--from', '3d', '--json')
  expect(JSON.parse(stdout)).toMatchObject({ from: `${day(3)}T00:00:00.000Z`, to: `${day(0)}T00:00:00.000Z` })
})

test('a refund is less than nothing, and a day without usage is no difference', async () => {
  const refund = await books.reconcile('openai', a(openAiPage({ 3: [['refund', -2]], 2: [] })), '--json')
  expect(JSON.parse(refund.stdout)).toMatchObject({ data: [{ billed: '-2', difference: '-2' }], ok: false })
  expect(await books.reconcile('openai', a(openAiPage({ 3: [], 2: [] })))).toMatchObject({ code: 0 })
})

test('a name on a bill that a spreadsheet or a terminal would obey is disarmed', async () => {
  const bill = a(openAiPage({ 3: [['=HYPERLINK("x")\u001b[2J', 1]], 2: [] }))
  const csv = await books.reconcile('openai', bill, '--csv')
  expect(csv.stdout).toContain(`"'=HYPERLINK(""x"")`)
  for (const { stdout } of [csv, await books.reconcile('openai', bill)]) expect(stdout).not.toContain('\u001b')
})
