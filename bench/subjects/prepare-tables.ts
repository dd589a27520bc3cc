import type { Key } from '../../layers/gateway/domain/key.ts'
import { writeCatalog } from '../../layers/gateway/store/catalog/write-catalog.ts'
import { createTables } from '../../layers/gateway/store/create-tables.ts'
import type { Tables } from '../../layers/gateway/store/tables.ts'
import { issueKey } from '../../operator/issue-key.ts'
import { catalogFor } from './catalog.ts'
import { keyOptions } from './key.ts'

/** Makes the tables if they are not there, with the bench's catalog and a new key. */
export async function prepareTables(tables: Tables, upstreamUrl: string): Promise<{ key: Key; secret: string }> {
  await createTables(tables)
  await writeCatalog(tables)(catalogFor(upstreamUrl), Date.now())
  return issueKey(tables, keyOptions(), Date.now())
}
