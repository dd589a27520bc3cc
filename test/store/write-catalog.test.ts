import { beforeEach, expect, test } from '@jest/globals'
import type { CatalogData } from '../../layers/gateway/domain/routing/catalog.ts'
import { CATALOG_ITEM, SEEDED } from '../../layers/gateway/names.ts'
import {
  listCatalogVersions,
  readCatalogVersion,
  readStoredCatalog,
  versionAt,
} from '../../layers/gateway/store/catalog/read-catalog.ts'
import { writeCatalog } from '../../layers/gateway/store/catalog/write-catalog.ts'
import { CATALOG_EVENTS } from '../../layers/gateway/store/events/events.ts'
import { listEvents } from '../../layers/gateway/store/events/list-events.ts'
import { type OperatorTables, openOperatorTables } from '../../layers/gateway/store/sdk/operator-tables.ts'
import { actAt } from '../support/act.ts'
import { catalogFor, openTestTables } from '../support/gateway.ts'
import { startUnreliableDynamoDb } from '../support/unreliable-dynamodb.ts'

const NOW = Date.UTC(2026, 10, 15, 12)
let tables: OperatorTables

beforeEach(async () => {
  tables = await openTestTables()
})

const catalogOf = (id: string): CatalogData => catalogFor('http://127.0.0.1:1', { id })
const push = (id: string, expectedVersion?: number) =>
  writeCatalog(tables)(catalogOf(id), actAt(NOW), { expectedVersion })
const inForce = async () => (await readStoredCatalog(tables)())?.data.models[0]?.id

test('a catalog pushed over another version than the one in force is refused, and that one stays', async () => {
  expect(await push('first', 0)).toEqual({ written: true, version: 1 })
  expect(await push('late', 0)).toEqual({ written: false, version: 1 })
  expect(await push('second', 1)).toEqual({ written: true, version: 2 })
  expect(await push('late', 1)).toEqual({ written: false, version: 2 })
  expect(await push('ahead', 3)).toEqual({ written: false, version: 2 })
  expect(await inForce()).toBe('second')
})

test.each([0, 1])(
  'of ten catalogs pushed at once over version %i, exactly one is in force',
  async (expectedVersion) => {
    if (expectedVersion === 1) await push('before', 0)
    const results = await Promise.all(Array.from({ length: 10 }, (_, i) => push(`model-${i}`, expectedVersion)))
    expect(results.filter(({ written }) => written)).toEqual([{ written: true, version: expectedVersion + 1 }])
    expect(results.every(({ version }) => version === expectedVersion + 1)).toBe(true)
    expect(await inForce()).toBe(`model-${results.findIndex(({ written }) => written)}`)
  },
)

test('a catalog and its event are written once if the answer is lost and the client sends them again', async () => {
  await using line = await startUnreliableDynamoDb(process.env.TEST_DYNAMODB ?? '')
  const names = { keysTable: tables.keys, usageTable: tables.usage, answersTable: tables.answers }
  const unreliable = openOperatorTables(names, { endpoint: line.endpoint })
  let losses = 1
  line.treat = (operation) => (operation === 'TransactWriteItems' && losses-- > 0 ? 'lose the answer' : 'answer')
  expect(await writeCatalog(unreliable)(catalogOf('first'), actAt(NOW), { expectedVersion: 0 })).toEqual({
    written: true,
    version: 1,
  })
  expect(line.given['lose the answer']).toBe(1)
})

test('a catalog pushed over whichever version is in force is always written', async () => {
  expect([await push('a'), await push('b'), await push('c')].map(({ version }) => version)).toEqual([1, 2, 3])
})

test('every version of the catalog is kept with its content, who pushed it and when', async () => {
  for (const [i, id] of ['first', 'second', 'third'].entries()) {
    await writeCatalog(tables)(catalogOf(id), actAt(NOW + i, `operator ${i}`))
  }
  const versions = await Array.fromAsync(listCatalogVersions(tables)())
  expect(versions.map(({ version, pushedBy }) => [version, pushedBy])).toEqual([
    [3, 'operator 2'],
    [2, 'operator 1'],
    [1, 'operator 0'],
  ])
  expect(await readCatalogVersion(tables)(2)).toEqual({
    version: 2,
    data: catalogOf('second'),
    pushedAt: new Date(NOW + 1).toISOString(),
    pushedBy: 'operator 1',
  })
  expect(await readCatalogVersion(tables)(4)).toBeUndefined()
})

test('the version that was in force at a moment is found to the millisecond', async () => {
  for (const i of [0, 1, 2]) await writeCatalog(tables)(catalogOf('a'), actAt(NOW + i * 1_000))
  const at = async (ms: number) => (await versionAt(listCatalogVersions(tables)(), ms))?.version
  expect([await at(NOW - 1), await at(NOW), await at(NOW + 999), await at(NOW + 1_000), await at(NOW + 9_999)]).toEqual(
    [undefined, 1, 1, 2, 3],
  )
})

test('the catalog of a first deployment is listed, read, and kept when the next one is pushed', async () => {
  const seed = { ...CATALOG_ITEM, catalog: catalogOf('seed'), source: '{}', version: 1, pushedAt: SEEDED }
  await tables.database.put({ TableName: tables.keys, Item: seed })
  const listed = async () => (await Array.fromAsync(listCatalogVersions(tables)())).map(({ version }) => version)
  expect(await listed()).toEqual([1])
  expect((await readCatalogVersion(tables)(1))?.data).toEqual(catalogOf('seed'))
  expect(await push('next', 1)).toEqual({ written: true, version: 2 })
  expect(await listed()).toEqual([2, 1])
  const kept = { version: 1, data: catalogOf('seed'), pushedAt: SEEDED, source: '{}' }
  expect(await readCatalogVersion(tables)(1)).toEqual(kept)
  expect(await readStoredCatalog(tables)()).not.toHaveProperty('source')
  expect((await versionAt(listCatalogVersions(tables)(), NOW - 1))?.version).toBe(1)
})

test('of two pushes that race, the one that loses leaves neither a version nor an event', async () => {
  await push('before', 0)
  const results = await Promise.all([push('left', 1), push('right', 1)])
  expect(results.filter(({ written }) => written)).toHaveLength(1)
  expect(await Array.fromAsync(listCatalogVersions(tables)())).toHaveLength(2)
  const events = await Array.fromAsync(listEvents(tables)({ of: CATALOG_EVENTS, fromMs: 0, toMs: NOW }))
  expect(events.map(({ before, after }) => `${before.version} → ${after.version}`).sort()).toEqual(['0 → 1', '1 → 2'])
})

test('a push that is sent again after another was made is told of its own version, and not made again', async () => {
  const act = actAt(NOW)
  const first = () => writeCatalog(tables)(catalogOf('first'), act, { expectedVersion: 0 })
  expect(await first()).toEqual({ written: true, version: 1 })
  await push('second', 1)
  expect(await first()).toEqual({ written: true, version: 1 })
  expect(await inForce()).toBe('second')
})
