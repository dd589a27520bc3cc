import { beforeAll, expect, jest, test } from '@jest/globals'
import type { UsagePage } from '../../layers/admin/api/shapes/usage.ts'
import { requireCatalog } from '../../layers/catalog/parse-catalog.ts'
import { utcDay } from '../../layers/gateway/domain/basics/time.ts'
import { HELLO, type TestGateway } from '../support/gateway.ts'
import { openFor, openStage, openUpstream } from '../support/stack.ts'
import type { Stage } from '../support/stage.ts'
import { say } from '../support/upstream.ts'

jest.setTimeout(60_000)

let gateway: TestGateway
let stage: Stage
let keyIds: string[]

/** Each answer is 100 prompt and 50 completion tokens: 0.0002 credits at every model's price. */
beforeAll(async () => {
  const upstream = await openUpstream(say('Hello', { prompt_tokens: 100, completion_tokens: 50 }))
  const modelOf = (id: string, provider: string, cost?: object) => ({
    id,
    contextLength: 1_000_000,
    maxOutputTokens: 1000,
    price: { input: '1', output: '2' },
    routes: [{ provider, model: id, ...(cost && { cost }) }],
  })
  const entry = { type: 'openai', baseUrl: upstream.url }
  const catalog = requireCatalog({
    providers: { cheap: entry, dear: entry },
    models: [
      modelOf('gain', 'cheap', { input: '0.5', output: '1' }),
      modelOf('loss', 'dear', { input: '1', output: '4' }),
      modelOf('unsaid', 'dear'),
    ],
  })
  gateway = await openFor(catalog)
  stage = await openStage(gateway.tables)
  const [first, second] = [await gateway.issue(), await gateway.issue()]
  keyIds = [first.key.id, second.key.id]
  const ask = async (secret: string, model: string) => (await gateway.post(secret, { ...HELLO, model })).text()
  for (const model of ['gain', 'gain', 'loss', 'nope']) await ask(first.secret, model)
  for (const model of ['loss', 'unsaid']) await ask(second.secret, model)
})

async function summary(by: string): Promise<UsagePage['groups']> {
  const { stdout } = await stage.waybill(['usage', 'summary', '--by', by, '--stage', 'dev', '--json'])
  return (JSON.parse(stdout) as UsagePage).groups
}

const money = (cost: string, upstream_cost: string, margin: string, without_cost: number) => ({
  cost,
  upstream_cost,
  margin,
  without_cost,
})

test('a usage summary by model has provider cost and margin, and counts answers without a stated cost apart', async () => {
  const groups = (await summary('model')).toSorted((a, b) => (a.group < b.group ? -1 : 1))
  expect(groups).toEqual([
    expect.objectContaining({ group: '-', ...money('0', '0', '0', 0) }),
    expect.objectContaining({ group: 'gain', ...money('0.0004', '0.0002', '0.0002', 0) }),
    expect.objectContaining({ group: 'loss', ...money('0.0004', '0.0006', '-0.0002', 0) }),
    expect.objectContaining({ group: 'unsaid', ...money('0.0002', '0', '0', 1) }),
  ])
})

test('a usage summary by provider, key and day has provider cost and margin', async () => {
  expect(await summary('provider')).toMatchObject([
    { group: 'dear', ...money('0.0006', '0.0006', '-0.0002', 1) },
    { group: 'cheap', ...money('0.0004', '0.0002', '0.0002', 0) },
    { group: '-', ...money('0', '0', '0', 0) },
  ])
  const byKey = await summary('key')
  expect(byKey.find(({ group }) => group === keyIds[0])).toMatchObject(money('0.0006', '0.0005', '0.0001', 0))
  expect(byKey.find(({ group }) => group === keyIds[1])).toMatchObject(money('0.0004', '0.0003', '-0.0001', 1))
  expect(await summary('day')).toMatchObject([{ group: utcDay(Date.now()), ...money('0.001', '0.0008', '0', 1) }])
})

test('a usage summary in plain text says how many answers the margin leaves out', async () => {
  const { stdout } = await stage.waybill(['usage', 'summary', '--stage', 'dev'])
  expect(stdout).toMatch(/charged +provider cost +margin +without cost\n/)
  expect(stdout).toMatch(/^loss .* 0\.0004 +0\.0006 +-0\.0002 +0$/m)
  expect(stdout).toContain('The margin leaves out answers whose route does not say what it costs: 1.')
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
  const groupsBy = async (...args: string[]) => {
    const asked = ['usage', 'summary', '--key', key.id, ...args, '--stage', 'dev', '--json']
    const { stdout } = await stage.waybill(asked)
    return (JSON.parse(stdout) as UsagePage).groups
      .map(({ group, requests, cost }) => `${group} ${requests} ${cost}`)
      .sort()
  }
  expect(await groupsBy('--by', 'user')).toEqual(['- 1 0.0002', '\u001b[31mbob 1 0.0002', 'ann 2 0.0004'].sort())
  expect(await groupsBy('--by', 'tag:team')).toEqual(['- 2 0.0004', 'a 1 0.0002', 'b 1 0.0002'])
  expect(await groupsBy('--by', 'tag:toString')).toEqual(['- 4 0.0008'])
  expect(await groupsBy('--by', 'model', '--user', 'ann')).toEqual(['gain 2 0.0004'])
  expect(await groupsBy('--by', 'user', '--tag', 'team=a')).toEqual(['ann 1 0.0002'])
  const { stdout } = await stage.waybill(['usage', 'summary', '--by', 'user', '--stage', 'dev'])
  expect(stdout).not.toContain('\u001b[31m')
  const wrong = await stage.waybill(['usage', 'summary', '--by', 'colour', '--stage', 'dev'])
  expect([wrong.code, wrong.stderr]).toEqual([expect.any(Number), expect.stringContaining('user or tag:NAME')])
  expect(wrong.code).not.toBe(0)
})
