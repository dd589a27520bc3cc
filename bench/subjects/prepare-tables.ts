import type { Key } from '../../layers/gateway/domain/keys/key.ts'
import { KEY_DEFAULTS } from '../../layers/gateway/domain/keys/new-key.ts'
import { parseCredits } from '../../layers/gateway/domain/money/money.ts'
import { BRAND } from '../../layers/gateway/names.ts'
import { writeCatalog } from '../../layers/gateway/store/catalog/write-catalog.ts'
import { createTables } from '../../layers/gateway/store/sdk/create-tables.ts'
import { openOperatorTables } from '../../layers/gateway/store/sdk/operator-tables.ts'
import { actBy, issueKey } from '../../local/issue-key.ts'
import { LOCAL_TABLES } from '../../local/local-tables.ts'
import { catalogFor } from './catalog.ts'

const NO_LIMITS = { rpm: 600_000, dailyLimit: 100_000_000, maxConcurrent: 1_000 }

/** Makes the tables if they are not there, with the bench's catalog and a new key that no limit refuses. */
export async function prepareTables(endpoint: string, upstreamUrl: string): Promise<{ key: Key; secret: string }> {
  const tables = openOperatorTables(LOCAL_TABLES, { endpoint })
  await createTables(tables)
  await writeCatalog(tables)(catalogFor(upstreamUrl), actBy('bench'))
  const settings = { ...KEY_DEFAULTS, ...NO_LIMITS, name: 'bench' }
  const credits = parseCredits('1000000') ?? 0n
  return issueKey(tables, { settings, credits, prefix: BRAND.keyPrefix, by: 'bench' }, Date.now())
}
