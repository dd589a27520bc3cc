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
import type { Tables } from '../../layers/gateway/store/dynamodb/database.ts'
import { CATALOG_EVENTS } from '../../layers/gateway/store/events/events.ts'
import { listEvents } from '../../layers/gateway/store/events/list-events.ts'
import { actAt } from '../support/act.ts'
import { catalogFor, openTestTables } from '../support/gateway.ts'

const NOW = Date.UTC(2026, 10, 15, 12)
let tables: Tables

beforeEach(async () => {
  tables = await openTestTables()
})

const catalogOf = (id: string): CatalogData => catalogFor('http://127.0.0.1:1', { id })
const push = (id: string, expectedVersion?: number) =>
  writeCatalog(tables)(catalogOf(id), actAt(NOW), { expectedVersion })
const inForce = async () => (await readStoredCatalog(tables)())?.data.models[0]?.id

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
