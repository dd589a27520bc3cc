import { beforeEach, expect, test } from '@jest/globals'
import { cachedCatalog } from '../../../layers/gateway/flow/routing/catalog-cache.ts'
import { CATALOG_HEAD, CATALOG_ITEM, SCHEMA_VERSION } from '../../../layers/gateway/names.ts'
import { isUnavailable } from '../../../layers/gateway/platform/aws/service-error.ts'
import { readNewCatalog } from '../../../layers/gateway/store/catalog/read-catalog.ts'
import { writeCatalog } from '../../../layers/gateway/store/catalog/write-catalog.ts'
import type { Item, Tables } from '../../../layers/gateway/store/dynamodb/database.ts'
import { actAt } from '../../support/act.ts'
import { catalogFor, openTestTables } from '../../support/gateway.ts'

let tables: Tables
let cache: ReturnType<typeof open>

/** A cache over a table, after its time is over with every look, and the items that it reads. */
function open() {
  let read: unknown[] = []
  let nowMs = 0
  const get: Tables['database']['get'] = (input) => {
    read.push(input.Key.sk)
    return tables.database.get(input)
  }
  const load = cachedCatalog(readNewCatalog({ ...tables, database: { ...tables.database, get } }), () => nowMs)
  return async () => {
    nowMs += 30_000
    read = []
    const catalog = await load()
    return { catalog, read }
  }
}

const push = () => writeCatalog(tables)(catalogFor('http://127.0.0.1:1'), actAt())

beforeEach(async () => {
  tables = await openTestTables()
  await push()
  cache = open()
})

/** Changes both items, as a restored table or a newer gateway has them. */
async function change(fields: Item): Promise<void> {
  for (const Key of [CATALOG_ITEM, CATALOG_HEAD]) {
    const { Item } = await tables.database.get({ TableName: tables.keys, Key })
    await tables.database.put({ TableName: tables.keys, Item: { ...Item, ...fields } })
  }
}

test('the first catalog is one read; while it is in force only its small item is read, and it stays open', async () => {
  const first = await cache()
  expect(first.read).toEqual(['CATALOG'])
  expect(await cache()).toEqual({ catalog: first.catalog, read: ['HEAD'] })
  expect((await cache()).catalog).toBe(first.catalog)
})

const AT_ANOTHER_TIME = { pushedAt: '2026-01-02T00:00:00.000Z' }

test.each([
  ['has another version', push, 2],
  ['has the version of one that a restored table has lost', () => change(AT_ANOTHER_TIME), 1],
])('a catalog that %s is opened when it is read', async (_, replace, version) => {
  const first = await cache()
  await replace()
  const { catalog, read } = await cache()
  expect([read, catalog.version]).toEqual([['HEAD', 'CATALOG'], version])
  expect(catalog).not.toBe(first.catalog)
  expect(await cache()).toEqual({ catalog, read: ['HEAD'] })
})

test('a catalog that is gone is none', async () => {
  await cache()
  for (const Key of [CATALOG_ITEM, CATALOG_HEAD]) await tables.database.delete({ TableName: tables.keys, Key })
  expect((await cache()).catalog.version).toBe(0)
  expect((await cache()).read).toEqual(['CATALOG'])
})

test('tables with a newer schema are refused as a database that is away, at first and later, and no push lowers it', async () => {
  await cache()
  await change({ schemaVersion: SCHEMA_VERSION + 1 })
  for (const look of [cache, open(), push]) {
    const error = await look().catch((error: unknown) => error)
    expect(String(error)).toMatch(/schema is 2, and this one knows 1\. Nothing was done\. Use the version/)
    expect(isUnavailable(error)).toBe(true)
  }
})
