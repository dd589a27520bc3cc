import type { Key } from '../../layers/gateway/domain/key.ts'
import { writeCatalog } from '../../layers/gateway/store/catalog/write-catalog.ts'
import { createTables } from '../../layers/gateway/store/create-tables.ts'
import { openOperatorTables } from '../../layers/gateway/store/operator-tables.ts'
import { actBy, issueKey } from '../../operator/connect/issue-key.ts'
import { LOCAL_TABLES } from '../../operator/connect/local-gateway.ts'
import { catalogFor } from './catalog.ts'
import { keyOptions } from './key.ts'

/** Makes the tables if they are not there, with the bench's catalog and a new key. */
export async function prepareTables(endpoint: string, upstreamUrl: string): Promise<{ key: Key; secret: string }> {
  const tables = openOperatorTables(LOCAL_TABLES, { endpoint })
  await createTables(tables)
  await writeCatalog(tables)(catalogFor(upstreamUrl), actBy('bench'))
  return issueKey(tables, keyOptions(), Date.now())
}
