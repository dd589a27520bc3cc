import { gzipSync } from 'node:zlib'
import { expect, test } from '@jest/globals'
import { commandsOf } from '../documents/support/markdown.ts'
import { anthropicPage, day, dayMs, openAiPage, openBooks, row } from './support/bills.ts'

const SONNET = 'us.anthropic.claude-sonnet-4-5-20250929-v1:0'
const OPENAI_DAYS = {
  3: [
    ['gpt-4o-2024-08-06, input', 0.5],
    ['gpt-4o-2024-08-06, output', '1.5'],
  ],
  2: [['gpt-4o, input', 1]],
} as const

const books = await openBooks((keyId) => [
  row(keyId, 3, 'openai', 'gpt-4o'),
  row(keyId, 3, 'openai', 'gpt-4o-2024-08-06'),
  row(keyId, 2, 'openai', 'gpt-4o'),
  row(keyId, 3, 'anthropic', 'claude-x'),
  row(keyId, 3, 'openrouter', 'openai/gpt-4.1'),
  row(keyId, 3, 'aws', SONNET),
  row(keyId, 3, 'aws', 'amazon.nova-pro-v1:0'),
])

const report = (headers: readonly string[], ...rows: readonly (readonly string[])[]) =>
  [headers, ...rows]
    .map((cells) => cells.map((cell) => (cell.includes(',') ? `"${cell}"` : cell)).join(','))
    .join('\r\n')

/** A row of AWS's report, by its headings. */
const CUR = {
  'identity/LineItemId': '',
  'identity/TimeInterval': 'x',
  'lineItem/LineItemType': 'Usage',
  'lineItem/UsageStartDate': `${day(3)}T10:00:00Z`,
  'lineItem/UsageEndDate': `${day(3)}T11:00:00Z`,
  'lineItem/ProductCode': 'AmazonBedrock',
  'lineItem/UsageType': '',
  'lineItem/UnblendedCost': '',
  'lineItem/CurrencyCode': 'USD',
  'product/ProductName': '',
  'lineItem/ResourceId': '',
}
const HEADINGS = Object.keys(CUR)
let id = 0
function curRow(usage: string, cost: string, more: Partial<typeof CUR> = {}): string[] {
  const named = { 'identity/LineItemId': `id${++id}`, 'lineItem/UsageType': usage, 'lineItem/UnblendedCost': cost }
  return Object.values({ ...CUR, ...named, ...more })
}
const AWS_ROWS = [
  curRow('USE1-NovaPro-input-tokens', '0.25'),
  curRow('USE1-NovaPro-output-tokens', '0.7500000000'),
  curRow('USE1-MP:USE1_InputTokenCount-Units', '1E0', {
    'lineItem/ProductCode': 'abc123',
    'product/ProductName': 'Claude Sonnet 4.5 (Amazon Bedrock Edition)',
  }),
]

const PAGES = [
  openAiPage({ 3: OPENAI_DAYS[3] }, { has_more: true, next_page: 'x' }),
  openAiPage({ 2: OPENAI_DAYS[2] }),
] as const
const SONNET_CENTS = [
  ['claude-x-20250929', '60.5'],
  ['claude-x-20250929', 39.5],
] as const
const SLUG = 'openai/gpt-4.1-2025-04-14'
const ACTIVITY = { date: day(3), model: 'openai/gpt-4.1', model_permaslug: SLUG, endpoint_id: 'e', usage: 1 }
const ACTIVITY_CSV = `date,model,model_permaslug,endpoint_id,provider_name,usage
${day(3)} 00:00:00,openai/gpt-4.1,x,e1,OpenAI,0.4
${day(3)},openai/gpt-4.1,x,e2,"Azure, EU",0.6
`
const GENERATIONS_CSV = `generation_id,created_at,cost_total,model_permaslug
gen-1,${day(3)} 23:59:59.123,1e-1,${SLUG}
gen-2,${day(2)}T01:00:00+02:00,0.9,${SLUG}
`
/** AWS's newer headings, and models by their resources. */
const CUR_2 = report(
  HEADINGS.map((heading) => heading.replace(/(?<=[a-z])[/A-Z]+/g, (sign) => `_${sign.replace('/', '')}`).toLowerCase()),
  ...[`inference-profile/${SONNET}`, 'foundation-model/amazon.nova-pro-v1:0'].map((model) =>
    curRow('USE1-x', '1', {
      'lineItem/UsageStartDate': `${day(3)} 00:00:00.000`,
      'lineItem/UsageEndDate': '',
      'lineItem/ResourceId': `arn:aws:bedrock:us-east-1:1:${model}`,
    }),
  ),
)

/** The same bill in every form: two days of gpt-4o, or one of another model, exactly as our rows have it. */
test.each<[string, string, Readonly<Record<string, object | string>>]>([
  ['OpenAI’s costs', 'openai', { 'costs.json': openAiPage(OPENAI_DAYS) }],
  ['OpenAI’s costs in two files', 'openai', { 'a.json': PAGES[0], 'b.json': PAGES[1] }],
  ['OpenAI’s costs as a list of pages', 'openai', { 'a.json': PAGES }],
  ['Anthropic’s cost report', 'anthropic', { 'report.json': anthropicPage({ 3: SONNET_CENTS, 2: [] }) }],
  ['OpenRouter’s activity', 'openrouter', { 'activity.json': { data: [ACTIVITY] } }],
  ['OpenRouter’s activity in CSV', 'openrouter', { 'activity.csv': ACTIVITY_CSV }],
  ['OpenRouter’s generations in CSV', 'openrouter', { 'activity.csv': GENERATIONS_CSV }],
  ['AWS’s report', 'aws', { 'cur.csv': report(HEADINGS, ...AWS_ROWS) }],
  ['AWS’s report, packed', 'aws', { 'cur.csv.gz': gzipSync(report(HEADINGS, ...AWS_ROWS)) }],
  ['AWS’s newer report', 'aws', { 'cur.csv': CUR_2 }],
])('%s that is as our rows ends with 0', async (_, provider, bills) => {
  const { code, stdout, stderr } = await books.reconcile(provider, bills)
  expect({ code, stderr, stdout }).toMatchObject({ code: 0, stderr: '' })
  expect(stdout).toContain('Every day and model is within the tolerance.')
})

test('each day and model has what was charged, our cost, the bill and their difference, exactly', async () => {
  const bill = openAiPage({
    3: [
      ['gpt-4o, input', '2.100000000001'],
      ['web search tool calls', 0.3],
    ],
    2: [['gpt-4o, input', 1]],
  })
  const { code, stdout } = await books.reconcile('openai', { 'costs.json': bill }, '--json')
  expect(code).toBe(1)
  const row = { day: day(3), requests: 2, charged: '4', upstream_cost: '2', billed: '2.1', difference: '0.1' }
  const tools = { day: day(3), model: 'web search tool calls', billed: '0.3', upstream_cost: '0' }
  expect(JSON.parse(stdout)).toMatchObject({
    object: 'reconciliation',
    provider: 'openai',
    bill: { form: 'OpenAI', files: [{ sha256: expect.stringMatching(/^[0-9a-f]{64}$/) }] },
    data: [
      { ...row, model: 'gpt-4o, gpt-4o-2024-08-06', within_tolerance: false, reasons: [] },
      { ...tools, reasons: ['no request of ours'] },
      { day: day(2), model: 'gpt-4o', difference: '0', within_tolerance: true },
    ],
    total: { requests: 3, charged: '6', upstream_cost: '3', billed: '3.4', difference: '0.4' },
    ok: false,
  })
})

test('CSV has a row for each day and model', async () => {
  const bills = { 'costs.json': openAiPage(OPENAI_DAYS) }
  const { code, stdout } = await books.reconcile('openai', bills, '--csv')
  const heading = 'day,model,requests,charged,upstreamCost,billed,difference,within,reasons'
  expect([code, stdout.split('\r\n')[0]]).toEqual([0, heading])
  expect(stdout).toContain(`${day(2)},gpt-4o,1,2,1,1,0,true,`)
  expect((await books.reconcile('openai', bills, '--csv', '--json')).code).toBe(1)
})

test.each([
  ['1.01', [], 0],
  ['1.0102', [], 1],
  ['0.9899', [], 1],
  ['1.0102', ['--tolerance', '1.01'], 0],
  ['1.0001', ['--tolerance', '0'], 1],
])('a bill of %s for 1, with %j, ends with %i', async (amount, args, code) => {
  const bill = openAiPage({ 3: [['gpt-4o, input', 2]], 2: [['gpt-4o, input', amount]] })
  expect(await books.reconcile('openai', { 'costs.json': bill }, ...args)).toMatchObject({ code })
})

test('a bill that does not name models is compared by days', async () => {
  const bill = openAiPage({ 3: [[null, 2]], 2: [[null, 1]] })
  const { code, stdout } = await books.reconcile('openai', { 'costs.json': bill }, '--json')
  expect(code).toBe(0)
  const data = ['2', '1'].map((billed) => ({ model: null, billed }))
  expect(JSON.parse(stdout)).toMatchObject({ data })
  expect(stdout).toContain('does not name the model of every line')
})

test('a model that the bill lacks, and a day that it lacks, are differences', async () => {
  const lacking = await books.reconcile('openai', { 'costs.json': openAiPage({ 3: OPENAI_DAYS[3], 2: [] }) })
  expect(lacking).toMatchObject({ code: 1, stdout: expect.stringContaining('not on the bill') })
  const half = await books.reconcile('anthropic', { 'report.json': anthropicPage({ 3: [['claude-x', 100]] }) })
  expect(half).toMatchObject({ code: 1, stdout: expect.stringContaining(`The bill lacks 1 of 2 days: ${day(2)}.`) })
})

test('lines of other days, other services, taxes and credits of AWS are left out, and counted', async () => {
  const more = [
    curRow('USE1-NovaPro-input-tokens', '9', { 'lineItem/LineItemType': 'Tax' }),
    curRow('USE1-NovaPro-input-tokens', '-9', { 'lineItem/LineItemType': 'Credit' }),
    curRow('BoxUsage:t3', '9', { 'lineItem/ProductCode': 'AmazonEC2', 'lineItem/CurrencyCode': 'EUR' }),
    curRow('USE1-NovaPro-input-tokens', '9', {
      'lineItem/UsageStartDate': `${day(9)}T10:00:00Z`,
      'lineItem/UsageEndDate': `${day(9)}T11:00:00Z`,
    }),
  ]
  const { code, stdout } = await books.reconcile('aws', { 'cur.csv': report(HEADINGS, ...AWS_ROWS, ...more) })
  expect(code).toBe(0)
  expect(stdout).toContain('1 lines of the bill are of other days')
  expect(stdout).toContain('3 lines of the bill are no usage of a model')
})

test('every reason that our rows know for a difference is told', async () => {
  const failed = (result: string, provider = 'openai') => ({ provider, model: 'm', result, ms: 1 })
  const { reconcile } = await openBooks((keyId) => {
    const { upstreamCost, ...withoutCost } = row(keyId, 3, 'openai', 'm', { priceVersion: 2 })
    const ended = { outcome: 'upstream_error', httpStatus: 502, cost: 0n } as const
    const { provider, upstreamModel, ...nowhere } = row(keyId, 3, '', '', { ...ended, upstreamCost: undefined })
    return [
      withoutCost,
      row(keyId, 3, 'openai', 'm', { usageSource: 'estimate' }),
      row(keyId, 3, 'openai', 'm', { usageCapped: true }),
      row(keyId, 3, 'openai', 'm', { startedAtMs: dayMs(2) - 1, durationMs: 5 }),
      row(keyId, 3, 'other', 'x', {
        attempts: [failed('timeout'), failed('error_event 500'), failed('connect'), failed('ok', 'other')],
      }),
      { ...nowhere, attempts: [failed('timeout', 'other'), failed('open')] },
      { ...nowhere, requestId: row(keyId, 3, '', '').requestId, outcome: 'abandoned' },
    ]
  })
  const bill = openAiPage({ 3: [['m, input', '9']], 2: [] })
  const { stdout } = await reconcile('openai', { 'costs.json': bill }, '--json')
  const reasons = [
    '3 answers reached nobody',
    '1 answers of routes without a cost',
    '1 counted by estimate',
    '1 counted beyond the hold',
    '1 ended on the next day',
    '2 versions of the catalog',
  ]
  expect(JSON.parse(stdout)).toMatchObject({
    data: [{ model: 'm', requests: 4, reasons }],
    notes: ['1 requests died on their way: a provider may have billed them, and no row says which.'],
  })
})

test('a thousand lines with a float’s digits add up to what they are', async () => {
  const tenths = Array.from({ length: 1000 }, (): [string, string] => ['gpt-4o, input', '0.0010000000000000000208'])
  const { stdout } = await books.reconcile('openai', { 'a.json': openAiPage({ 3: tenths, 2: [] }) }, '--json')
  expect(JSON.parse(stdout).data[0]).toMatchObject({ billed: '1', upstream_cost: '2' })
})

test.each(commandsOf('docs/operate.md').filter((command) => command.includes(' reconcile ')))(
  'the documented command "%s" works',
  async (command) => {
    const words = command.replace('npm run -s waybill -- reconcile ', '').replace(' --stage dev', '').split(' ')
    const [provider = ''] = words.splice(0, 4).slice(1)
    const bill = { 'costs.json': openAiPage({ 1: [] }) }
    expect(await books.reconcile(provider, bill, ...words)).toMatchObject({ code: 0, stderr: '' })
  },
)
