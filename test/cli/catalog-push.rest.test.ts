import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { beforeEach, expect, test } from '@jest/globals'
import { compareCatalogs } from '../../layers/admin/catalog/compare-catalogs.ts'
import { readStoredCatalog } from '../../layers/gateway/store/catalog/read-catalog.ts'
import { writeCatalog } from '../../layers/gateway/store/catalog/write-catalog.ts'
import type { Tables } from '../../layers/gateway/store/dynamodb/database.ts'
import { actAt } from '../support/act.ts'
import { catalogFor, openTestTables } from '../support/gateway.ts'
import { emptyFolder } from '../support/processes.ts'
import { openStage } from '../support/stack.ts'
import type { Stage } from '../support/stage.ts'
import { commandsOn } from './support/commands.ts'

const UP = 'https://up.example/v1'
const folder = emptyFolder()
let tables: Tables
let stage: Stage

beforeEach(async () => {
  tables = await openTestTables()
  stage = await openStage(tables)
})

function fileOf(name: string, model: object): string {
  const file = join(folder, `${name}.json`)
  writeFileSync(file, JSON.stringify(catalogFor(UP, model)))
  return file
}

const { run, shown, json, list } = commandsOn((args) => stage.waybill([...args, '--stage', 'dev']))

test('waybill catalog push shows the version in force and the changes, then writes the next version', async () => {
  expect(await run('catalog', 'push', fileOf('first', { id: 'a' }))).toEqual({
    code: 0,
    stderr: 'No catalog is in force. This changes:\n  + model a\n  + provider up\n',
    stdout: 'Version 1 of the catalog is in force: 1 models, 1 providers.\n',
  })
  const pushedAt = (await readStoredCatalog(tables)())?.pushedAt
  const second = fileOf('second', { id: 'a', price: { input: '1.5', output: '2' } })
  expect(await run('catalog', 'push', second)).toMatchObject({
    code: 0,
    stderr: `Version 1, pushed ${pushedAt}, is in force. This changes:\n  ~ model a: input 1 → 1.5, cachedInput 0.5 → -\n`,
  })
  const again = await run('catalog', 'push', second, '--json')
  expect(again.stderr).toMatch(/^Version 2, .* This changes no provider, model or price\.\n$/)
  expect(JSON.parse(again.stdout)).toMatchObject({ object: 'catalog', version: 2, changes: [], warnings: [] })
  expect(await run('catalog', 'rollback', '2')).toMatchObject({
    code: 0,
    stdout: 'Version 2 of the catalog is in force: as it was, for nothing changed.\n',
  })
  const rewritten = join(folder, 'rewritten.json')
  writeFileSync(rewritten, JSON.stringify((await readStoredCatalog(tables)())?.data))
  const { stdout } = await run('catalog', 'push', rewritten)
  expect(stdout).toBe('Version 3 of the catalog is in force: changed in how it is written only.\n')
})

test('waybill catalog push and rollback keep a note, which show and versions tell', async () => {
  await shown('catalog', 'push', fileOf('noted', { id: 'noted' }), '--note', 'a cheaper route')
  const pushed = await readStoredCatalog(tables)()
  expect(pushed?.note).toBe('a cheaper route')
  expect(await shown('catalog', 'show')).toContain(': a cheaper route\n')
  await writeCatalog(tables)(catalogFor(UP, { id: 'a' }), actAt())
  await shown('catalog', 'rollback', String(pushed?.version), '--note', 'it was right')
  const notes = (await list('catalog', 'versions')).map(({ note }) => note)
  expect(notes.slice(0, 3)).toEqual(['it was right', null, 'a cheaper route'])
  expect(await shown('catalog', 'versions')).toContain('it was right')
})

test('waybill catalog check and push warn of prices below cost, and succeed', async () => {
  const routes = [{ provider: 'up', model: 'x', cost: { input: '1', output: '3', cachedInput: '0.5' } }]
  const file = fileOf('loss', { id: 'loss', routes })
  const warning = "model 'loss': output 2 is below what route up/x costs (3)"
  for (const command of ['check', 'push']) {
    const { code, stderr } = await run('catalog', command, file)
    expect([code, stderr]).toEqual([0, expect.stringContaining(`warning: ${warning}\n`)])
    expect(await json('catalog', command, file)).toMatchObject({ warnings: [warning] })
  }
})

test('a comparison of catalogs lists each model and provider that was added, removed or changed', () => {
  const [before, after] = [
    catalogFor(UP, { id: 'same' }),
    catalogFor('https://new.example/v1', { id: 'same', active: false, price: { input: '1', output: '4' } }),
  ]
  const [gone, fresh] = ['gone', 'fresh'].map((id) => catalogFor(UP, { id }).models)
  expect(
    compareCatalogs(
      { ...before, models: [...before.models, ...(gone ?? [])] },
      { ...after, models: [...(fresh ?? []), ...after.models] },
    ),
  ).toEqual([
    '~ model same: output 2 → 4, cachedInput 0.5 → -, active',
    '- model gone',
    '+ model fresh',
    '~ provider up: baseUrl',
  ])
  expect(compareCatalogs(before, before)).toEqual([])
})

test('a comparison of catalogs tells tiers in words', () => {
  const price = { input: '1', output: '2' }
  const tiers = [{ above: 1_000, input: '2', output: '3' }]
  const [before, after] = [catalogFor(UP, { price }), catalogFor(UP, { price: { ...price, tiers } })]
  expect(compareCatalogs(before, after)).toEqual(['~ model test-model: tiers - → above 1000: input 2, output 3'])
  expect(compareCatalogs(after, before)).toEqual(['~ model test-model: tiers above 1000: input 2, output 3 → -'])
  const served = catalogFor(UP, { price: { ...price, serviceTiers: { flex: { input: '0.5', output: '1' } } } })
  expect(compareCatalogs(before, served)).toEqual(['~ model test-model: serviceTiers - → flex: input 0.5, output 1'])
})
