import { beforeAll, describe, expect, jest, test } from '@jest/globals'
import type { List } from '../../layers/admin/api/shapes/answers.ts'
import type { RequestLine } from '../../layers/admin/api/shapes/requests.ts'
import type { UsagePage } from '../../layers/admin/api/shapes/usage.ts'
import { requireCatalog } from '../../layers/catalog/parse-catalog.ts'
import { HELLO, type TestGateway } from '../support/gateway.ts'
import { openFor, openStage, openUpstream } from '../support/stack.ts'
import type { Stage } from '../support/stage.ts'
import { say } from '../support/upstream.ts'
import { until } from '../support/wait.ts'

jest.setTimeout(90_000)

let gateway: TestGateway
let stage: Stage
let secret: string
const at = ['--stage', 'dev']

const ask = async (model: string) => (await gateway.post(secret, { ...HELLO, model })).text()

beforeAll(async () => {
  const upstream = await openUpstream(say('Hello', { prompt_tokens: 100, completion_tokens: 50 }))
  const modelOf = (id: string, cost?: object) => ({
    id,
    contextLength: 1_000_000,
    maxOutputTokens: 1000,
    price: { input: '1', output: '2' },
    routes: [{ provider: 'up', model: id, ...(cost && { cost }) }],
  })
  const providers = { up: { type: 'openai', baseUrl: upstream.url } }
  const models = [
    modelOf('gain', { input: '0.5', output: '1' }),
    modelOf('loss', { input: '1', output: '4' }),
    modelOf('unsaid'),
  ]
  gateway = await openFor(requireCatalog({ providers, models }))
  stage = await openStage(gateway.tables, gateway.baseUrl)
  const made = await stage.waybill(['keys', 'create', '--name', 'acme', '--credits', '1', '--json', ...at])
  secret = JSON.parse(made.stdout).secret
  const other = await gateway.issue()
  for (const model of ['gain', 'gain', 'loss', 'unsaid', 'nope']) await ask(model)
  await (await gateway.post(other.secret, { ...HELLO, model: 'gain' })).text()
})

async function json<T>(...args: string[]): Promise<T> {
  const { code, stdout, stderr } = await stage.waybill([...args, '--json', ...at])
  expect([code, stderr]).toEqual([0, ''])
  return JSON.parse(stdout) as T
}

const list = async (...args: string[]) => (await json<List<RequestLine>>('usage', 'list', ...args)).data
const summary = (...args: string[]) => json<UsagePage>('usage', 'summary', ...args)

describe('usage list', () => {
  test('has the requests of a key, a model, a status, an outcome and a range', async () => {
    // A model that is not in the catalog is not in the row.
    const models = async (...args: string[]) => (await list(...args)).map(({ model }) => model ?? 'nope')
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
    const { code, stderr } = await stage.waybill(['usage', 'list', ...args, ...at])
    expect([code, stderr]).toEqual([1, expect.stringContaining(told)])
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
    const { child, output, ended } = stage.start('cli/waybill.ts', [
      'usage',
      'tail',
      '--key',
      'acme',
      '--limit',
      '1',
      ...at,
    ])
    await until(() => output.stdout.includes('\n'), 30_000)
    expect(output.stdout.trimEnd().split('\n')).toHaveLength(1)
    await ask('loss')
    await until(() => output.stdout.split('\n').length === 3, 30_000)
    child.kill('SIGINT')
    const { code, stdout, stderr } = await ended
    expect([code, stderr]).toEqual([0, ''])
    expect(stdout).toMatch(/ 404 .* model_not_found\n.* 200 {2}loss +acme +\d+ ms +0\.0002 {2}req_\w{26}\n$/)
  })

  test('with --json has a line for each request, and ends when its reader has left', async () => {
    const { child, output, ended } = stage.start('cli/waybill.ts', [
      'usage',
      'tail',
      '--json',
      '--model',
      'gain',
      ...at,
    ])
    await until(() => output.stdout.split('\n').length > 3, 30_000)
    const lines = output.stdout.trimEnd().split('\n')
    expect(lines.map((line) => JSON.parse(line).model)).toEqual(['gain', 'gain', 'gain'])
    child.stdout?.destroy()
    await ask('gain')
    expect(await ended).toMatchObject({ code: 0, stderr: '' })
  })
})
