import { beforeEach, expect, test } from '@jest/globals'
import type { CatalogData } from '../../layers/gateway/domain/catalog.ts'
import { readStoredCatalog } from '../../layers/gateway/store/catalog/read-stored-catalog.ts'
import { writeCatalog } from '../../layers/gateway/store/catalog/write-catalog.ts'
import { type OperatorTables, openOperatorTables } from '../../layers/gateway/store/operator-tables.ts'
import { actAt } from '../support/act.ts'
import { catalogFor, openTestTables } from '../support/gateway.ts'
import { startUnreliableDynamoDb } from '../support/unreliable-dynamodb.ts'

const NOW = Date.UTC(2026, 10, 15, 12)
let tables: OperatorTables

beforeEach(async () => {
  tables = await openTestTables()
})

const catalogOf = (id: string): CatalogData => catalogFor('http://127.0.0.1:1', { id })
const push = (id: string, shown?: number) => writeCatalog(tables)(catalogOf(id), actAt(NOW), { shown })
const inForce = async () => (await readStoredCatalog(tables)())?.data.models[0]?.id

test('a catalog pushed over another version than the one in force is refused, and that one stays', async () => {
  expect(await push('first', 0)).toEqual({ written: true, version: 1 })
  expect(await push('late', 0)).toEqual({ written: false, version: 1 })
  expect(await push('second', 1)).toEqual({ written: true, version: 2 })
  expect(await push('late', 1)).toEqual({ written: false, version: 2 })
  expect(await push('ahead', 3)).toEqual({ written: false, version: 2 })
  expect(await inForce()).toBe('second')
})

test.each([0, 1])('of ten catalogs pushed at once over version %i, exactly one is in force', async (shown) => {
  if (shown === 1) await push('before', 0)
  const results = await Promise.all(Array.from({ length: 10 }, (_, i) => push(`model-${i}`, shown)))
  expect(results.filter(({ written }) => written)).toEqual([{ written: true, version: shown + 1 }])
  expect(results.every(({ version }) => version === shown + 1)).toBe(true)
  expect(await inForce()).toBe(`model-${results.findIndex(({ written }) => written)}`)
})

test('a catalog and its event are written once if the answer is lost and the client sends them again', async () => {
  await using line = await startUnreliableDynamoDb(process.env.TEST_DYNAMODB ?? '')
  const names = { keysTable: tables.keys, usageTable: tables.usage, answersTable: tables.answers }
  const unreliable = openOperatorTables(names, { endpoint: line.endpoint })
  let losses = 1
  line.treat = (operation) => (operation === 'TransactWriteItems' && losses-- > 0 ? 'lose the answer' : 'answer')
  expect(await writeCatalog(unreliable)(catalogOf('first'), actAt(NOW), { shown: 0 })).toEqual({
    written: true,
    version: 1,
  })
  expect(line.given['lose the answer']).toBe(1)
})

test('a catalog pushed over whichever version is in force is always written', async () => {
  expect([await push('a'), await push('b'), await push('c')].map(({ version }) => version)).toEqual([1, 2, 3])
})
