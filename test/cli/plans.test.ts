import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from '@jest/globals'
import type { PlanShape } from '../../layers/admin/api/shapes/catalog.ts'
import type { KeyWithSecret } from '../../layers/admin/api/shapes/keys.ts'
import { PLAN_DEFAULTS } from '../../layers/admin/settings/setting-fields.ts'
import { catalogFor, HELLO } from '../support/gateway.ts'
import { emptyFolder } from '../support/processes.ts'
import { stageOfFile } from './support/commands.ts'

const { opened, run, shown, json, list, refused } = await stageOfFile()
const { gateway, upstream } = opened
const folder = emptyFolder()

function fileOf(name: string, content: object): string {
  const file = join(folder, `${name}.json`)
  writeFileSync(file, JSON.stringify(content))
  return file
}

/** The output of a change that is made, with the words on standard error. */
async function done(...args: string[]): Promise<string> {
  const { code, stdout, stderr } = await run(...args)
  expect([code, stderr]).toEqual([0, expect.any(String)])
  return stderr + stdout
}

test('an operator makes a plan, gives it to a key, looks at both, and changes it', async () => {
  const prices = fileOf('prices', { 'test-model': { input: '30', output: '40' } })
  const made = await done('plans', 'create', '--name', 'gold', '--factor', '1.25', '--rpm', '120', '--models', 'test-*')
  expect(made).toContain('Its prices hold within 30 seconds everywhere, and at once on one machine.\n')
  expect(made).toMatch(/gold +1\.25 +- +rpm 120, models test-\*/)
  const key = await json<KeyWithSecret>('keys', 'create', '--name', 'acme', '--credits', '5', '--plan', 'gold')
  expect([key.plan, key.rpm, key.models]).toEqual(['gold', 120, ['test-*']])
  const response = await gateway.post(key.secret ?? '', HELLO)
  const requestId = response.headers.get('x-request-id') ?? ''
  expect(await shown('usage', 'show', requestId)).toMatch(/plan +gold, × 1\.25/)
  expect(await done('plans', 'update', 'gold', '--prices', prices)).toMatch(/gold +1\.25 +test-model/)
  expect((await json<PlanShape>('plans', 'show', 'gold')).prices).toEqual({
    'test-model': { input: '30', output: '40' },
  })
  expect(await list('plans', 'list')).toMatchObject([{ name: 'gold', factor: '1.25', rpm: 120 }])
  expect(await shown('catalog', 'diff')).toContain('~ plan gold: prices')
  expect(await shown('keys', 'update', 'acme', '--plan', '')).toContain("plan gold → its account's")
  expect(await shown('usage', 'export', '--from', 'today')).toContain('"plan":"gold","price_factor":"1.25"')
})

test('an empty text takes away what a plan has for new keys', async () => {
  const limits = ['rpm', 'tpm', 'daily', 'concurrent', 'daily-credits', 'monthly-credits', 'daily-loss']
  const all = [...limits.map((name) => [`--${name}`, '7']), ['--models', 'test-model']]
  await done('plans', 'create', '--name', 'full', ...all.flat())
  const fields = Object.keys(PLAN_DEFAULTS)
  const seen = async () => {
    const plan = await json('plans', 'show', 'full')
    return fields.map((field) => plan[field])
  }
  expect(await seen()).not.toContain(null)
  await done('plans', 'update', 'full', ...all.flatMap(([flag = '']) => [flag, '']))
  expect(await seen()).toEqual(fields.map(() => null))
})

test('what is wrong with a plan is said before or by the gateway', async () => {
  for (const factor of ['0', '100.0001', '1e3', 'abc', '1.00001']) {
    expect(await refused('plans', 'create', '--name', 'bad', '--factor', factor)).toContain(
      'It must be a plain decimal from 0.0001 to 100 with at most 4 decimals, such as 1.25.',
    )
  }
  expect(await refused('plans', 'show', 'golt')).toContain("There is no plan 'golt'. Did you mean 'gold'?")
  expect(await refused('keys', 'create', '--name', 'x', '--plan', 'golt')).toContain("Did you mean 'gold'?")
  expect(await refused('plans', 'update', 'gold')).toContain('Say what to change, for example --factor 1.25.')
  expect(await refused('plans', 'update', 'gold', '--prices', join(folder, 'none.json'))).toContain(
    'The list of prices',
  )
  expect(await refused('plans', 'create', '--name', 'gold')).toContain("There is a plan 'gold' already.")
})

test('a plan, a push and a rollback below cost are refused where nobody says yes, and keep the plans', async () => {
  await done('plans', 'create', '--name', 'half', '--factor', '0.5')
  const costing = (output: string) => {
    const cost = { input: '0.5', output, cachedInput: '0.2' }
    return fileOf('costs', catalogFor(upstream.url, { routes: [{ provider: 'up', model: 'x', cost }] }))
  }
  const loss = "in the plan 'half' (× 0.5), output 1 is below what route up/x costs (1.1)"
  const file = costing('1.1')
  expect(await done('catalog', 'check', file)).toContain(`warning: model 'test-model': ${loss}`)
  const told = await refused('catalog', 'push', file)
  expect(told).toContain(`warning: model 'test-model': ${loss}`)
  expect(told).toContain(
    'and sell below cost under a plan. Nobody is at a terminal to be asked, so nothing was changed.',
  )
  await done('catalog', 'push', file, '--yes')
  await done('catalog', 'push', costing('0.9'))
  const [, { version }] = (await list<{ version: number }>('catalog', 'versions')) as [unknown, { version: number }]
  expect(await refused('catalog', 'rollback', String(version))).toContain('Add --yes to go on.')
  await done('catalog', 'rollback', String(version), '--yes')
  expect((await list('plans', 'list')).map(({ name }) => name)).toEqual(['full', 'gold', 'half'])
  const cheaper = ['plans', 'update', 'half', '--factor', '0.4']
  expect(await refused(...cheaper)).toContain("The plan 'half' sells below cost:\n  model 'test-model': in the plan")
  expect((await json<PlanShape>('plans', 'show', 'half')).factor).toBe('0.5')
  await done(...cheaper, '--yes')
  expect((await json<PlanShape>('plans', 'show', 'half')).factor).toBe('0.4')
})
