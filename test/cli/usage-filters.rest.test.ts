import { describe, expect, test } from '@jest/globals'
import type { RequestLine } from '../../layers/admin/api/shapes/requests.ts'
import type { UsagePage } from '../../layers/admin/api/shapes/usage.ts'
import { requireCatalog } from '../../layers/catalog/parse-catalog.ts'
import { utcDay } from '../../layers/gateway/domain/basics/time.ts'
import { HELLO } from '../support/gateway.ts'
import { openFor, openStage, openUpstream } from '../support/stack.ts'
import { say } from '../support/upstream.ts'
import { until } from '../support/wait.ts'
import { commandsOn } from './support/commands.ts'

const at = ['--stage', 'dev']

/** Each answer is 100 prompt and 50 completion tokens: 0.0002 credits at every model's price. */
const upstream = await openUpstream(say('Hello', { prompt_tokens: 100, completion_tokens: 50 }))
const modelOf = (id: string, provider: string, cost?: object) => {
  const routes = [{ provider, model: id, ...(cost && { cost }) }]
  return { id, contextLength: 1_000_000, maxOutputTokens: 1000, price: { input: '1', output: '2' }, routes }
}
const entry = { type: 'openai', baseUrl: upstream.url }
const models = [
  modelOf('gain', 'cheap', { input: '0.5', output: '1' }),
  modelOf('loss', 'dear', { input: '1', output: '4' }),
  modelOf('unsaid', 'dear'),
]
const gateway = await openFor(requireCatalog({ providers: { cheap: entry, dear: entry }, models }))
const stage = await openStage(gateway.tables, gateway.baseUrl)
const [acme, other] = [await gateway.issue({ name: 'acme' }), await gateway.issue()]
const ask = async (model: string, by = acme.secret) => (await gateway.post(by, { ...HELLO, model })).text()
const keyIds = [acme.key.id, other.key.id]
for (const model of ['gain', 'gain', 'loss', 'unsaid', 'nope']) await ask(model)
await ask('gain', other.secret)

const { shown, json, list, refused } = commandsOn((args) => stage.waybill([...args, ...at]))
const summary = (...args: string[]) => json<UsagePage>('usage', 'summary', ...args)

describe('usage list', () => {
  test('has the requests of a key, a model, a status, an outcome and a range', async () => {
    // A model that is not in the catalog is not in the row.
    const models = async (...args: string[]) =>
      (await list<RequestLine>('usage', 'list', ...args)).map(({ model }) => model ?? 'nope')
    expect(await models('--key', 'acme')).toEqual(['nope', 'unsaid', 'loss', 'gain', 'gain'])
    expect(await models('--model', 'gain')).toEqual(['gain', 'gain', 'gain'])
    expect(await models('--status', '404')).toEqual(['nope'])
    expect(await models('--status', '4xx', '--limit', '1')).toEqual(['nope'])
    expect(await models('--status', '2xx', '--key', 'acme', '--limit', '1')).toEqual(['unsaid'])
    expect(await models('--status', '5xx')).toEqual([])
    expect(await models('--status', 'refused')).toEqual(['nope'])
    expect(await models('--from', 'yesterday', '--to', 'today')).toEqual([])
    expect(await models('--from', 'yesterday')).toEqual([])
    expect(await models('--from', '1h', '--model', 'loss')).toEqual(['loss'])
  })

  test.each([
    [['--status', '600'], 'a status such as 429 or 5xx, or completed'],
    [['--from', 'tomorrow'], 'today, yesterday, this-month, last-month'],
    [['--from', 'today', '--since', '1h'], 'Choose one of --from and --since'],
  ])('refuses %j with the values that there are', async (args, told) => {
    expect(await refused('usage', 'list', ...args)).toContain(told)
  })

  test('on a terminal says its range in UTC, has names and the whole id of each request, and fits', async () => {
    const { stdout } = await stage.onTerminal(['usage', 'list', ...at], 80, { NO_COLOR: '1' })
    const [range, heading, first = '', ...more] = stdout.trimEnd().split('\n')
    expect(range).toMatch(/^from \d{4}-\d\d-\d\d \d\d:\d\d:\d\d to now, UTC$/)
    expect(heading).toMatch(/^started {3}request /)
    expect(first).toMatch(/^\d\d:\d\d:\d\d {2}req_\w{26} {2}\w+ /)
    expect([first, ...more].filter((line) => line.length > 80)).toEqual([])
    expect(more.at(-1)).toMatch(/^total +[\d.]+$/)
  })
})

describe('usage summary', () => {
  test.each([
    ['model', 'gain 0.0006 0.0003 0.0003 0', 'loss 0.0002 0.0003 -0.0001 0', 'unsaid 0.0002 0 0 1', '- 0 0 0 0'],
    ['provider', 'cheap 0.0006 0.0003 0.0003 0', 'dear 0.0004 0.0003 -0.0001 1', '- 0 0 0 0'],
    ['key', 'KEY0 0.0008 0.0005 0.0001 1', 'KEY1 0.0002 0.0001 0.0001 0'],
    ['day', 'TODAY 0.001 0.0006 0.0002 1'],
  ])('by %s has provider cost and margin, and counts answers without a stated cost apart', async (by, ...lines) => {
    const told = (await summary('--by', by)).groups.map((it) =>
      [it.group, it.cost, it.upstream_cost, it.margin, it.without_cost].join(' '),
    )
    const names = { KEY0: keyIds[0], KEY1: keyIds[1], TODAY: utcDay(Date.now()) }
    const named = lines.map((line) => line.replace(/^[A-Z]\w+/, (name) => names[name as keyof typeof names] ?? ''))
    expect(told).toEqual(named)
  })

  test('in plain text says how many answers the margin leaves out', async () => {
    const stdout = await shown('usage', 'summary')
    expect(stdout).toMatch(/charged +provider cost +margin +without cost$/m)
    expect(stdout).toMatch(/^loss .* 0\.0002 +0\.0003 +-0\.0001 +0$/m)
    expect(stdout).toContain('The margin leaves out answers whose route does not say what it costs: 1.')
    expect(await shown('usage', 'summary', '--wide')).toMatch(/ share\b[\s\S]* 100\.0 %/)
  })

  /** The same rows, so the same numbers as the admin API's own sums. */
  test.each(['model', 'key', 'provider', 'day'])('by %s adds rows of a status up as the admin API does', async (by) => {
    const [ours, theirs] = [await summary('--by', by, '--status', '2xx'), await summary('--by', by)]
    const numbers = ({ groups }: UsagePage) =>
      groups.map(({ refused, requests, share, ...rest }) => ({ ...rest, answered: requests - refused }))
    const isAnswered = ({ answered }: { answered: number }) => answered > 0
    expect(numbers(ours)).toEqual(numbers(theirs).filter(isAnswered))
    expect({ ...ours.total, requests: 0, refused: 0 }).toEqual({ ...theirs.total, requests: 0, refused: 0 })
  })

  test('of a model and of a status has only these', async () => {
    expect((await summary('--model', 'gain', '--by', 'key')).total).toMatchObject({
      requests: 3,
      cost: '0.0006',
      margin: '0.0003',
    })
    expect((await summary('--model', 'gain', '--key', 'acme')).groups).toMatchObject([{ group: 'gain', requests: 2 }])
    expect((await summary('--status', '404')).groups).toMatchObject([{ requests: 1, refused: 1, cost: '0' }])
    expect((await summary('--status', '5xx')).total).toMatchObject({ requests: 0, cost: '0' })
  })

  test('on a terminal has names, and a total', async () => {
    const { stdout } = await stage.onTerminal(['usage', 'summary', '--by', 'key', ...at], 120, { NO_COLOR: '1' })
    const lines = stdout.split('\n')
    expect(lines[1]).toMatch(/^key +requests/)
    expect(stdout).toMatch(/^acme +5 /m)
    expect(stdout).toMatch(/^total +6 /m)
    expect(stdout).not.toContain('key_')
  })
})

describe('usage tail', () => {
  test('shows requests as they end, and Ctrl-C ends it cleanly', async () => {
    const args = ['usage', 'tail', '--key', 'acme', '--limit', '1', ...at]
    const { child, output, ended } = stage.start('cli/waybill.ts', args)
    await until(() => output.stdout.includes('\n'), 30_000)
    expect(output.stdout.trimEnd().split('\n')).toHaveLength(1)
    await ask('loss')
    await until(() => output.stdout.split('\n').length === 3, 30_000)
    child.kill('SIGINT')
    const { code, stdout, stderr } = await ended
    expect([code, stderr]).toEqual([0, ''])
    expect(stdout).toMatch(
      /^20\S+Z {2}404 .* model_not_found\n20\S+Z {2}200 {2}loss +acme +\d+ ms +0\.0002 {2}req_\w{26}\n$/,
    )
  })

  test('with --json has a line for each request, and ends when its reader has left', async () => {
    const args = ['usage', 'tail', '--json', '--model', 'gain', ...at]
    const { child, output, ended } = stage.start('cli/waybill.ts', args)
    await until(() => output.stdout.split('\n').length > 3, 30_000)
    const lines = output.stdout.trimEnd().split('\n')
    expect(lines.map((line) => JSON.parse(line).model)).toEqual(['gain', 'gain', 'gain'])
    child.stdout?.destroy()
    await ask('gain')
    expect(await ended).toMatchObject({ code: 0, stderr: '' })
  })
})

test('a usage summary by user and by tag adds up rows, filtered or not, with those that name none under -', async () => {
  const { key, secret } = await gateway.issue()
  const claims = [
    { user: 'ann', metadata: { team: 'a' } },
    { user: 'ann' },
    { user: '\u001b[31mbob', metadata: { team: 'b' } },
    {},
  ]
  for (const fields of claims) await (await gateway.post(secret, { ...HELLO, model: 'gain', ...fields })).text()
  const groupsBy = async (...args: string[]) =>
    (await summary('--key', key.id, ...args)).groups
      .map(({ group, requests, cost }) => `${group} ${requests} ${cost}`)
      .sort()
  expect(await groupsBy('--by', 'user')).toEqual(['- 1 0.0002', '\u001b[31mbob 1 0.0002', 'ann 2 0.0004'].sort())
  expect(await groupsBy('--by', 'tag:team')).toEqual(['- 2 0.0004', 'a 1 0.0002', 'b 1 0.0002'])
  expect(await groupsBy('--by', 'tag:toString')).toEqual(['- 4 0.0008'])
  expect(await groupsBy('--by', 'model', '--user', 'ann')).toEqual(['gain 2 0.0004'])
  expect(await groupsBy('--by', 'user', '--tag', 'team=a')).toEqual(['ann 1 0.0002'])
  expect(await shown('usage', 'summary', '--by', 'user')).not.toContain('\u001b[31m')
  expect(await refused('usage', 'summary', '--by', 'colour')).toContain('user or tag:NAME')
})

test('calls that ask no model are listed when they are asked for, and are in no summary', async () => {
  const { key, secret } = await gateway.issue()
  await (await gateway.post(secret, { ...HELLO, model: 'gain' })).text()
  for (let i = 0; i < 3; i++) await (await gateway.get(secret, '/v1/credits')).text()
  const endpoints = async (...args: string[]) =>
    (await list<RequestLine>('usage', 'list', '--key', key.id, ...args)).map(({ endpoint }) => endpoint)
  expect(await endpoints()).toEqual(['chat.completions'])
  expect(await endpoints('--calls', 'all')).toEqual(['credits', 'credits', 'credits', 'chat.completions'])
  for (const args of [[], ['--status', '2xx']]) {
    const { groups, total } = await summary('--key', key.id, ...args)
    expect([groups.map(({ group }) => group), total.requests, total.calls]).toEqual([['gain'], 1, 3])
  }
})
