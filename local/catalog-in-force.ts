import { isDeepStrictEqual } from 'node:util'
import { isoTime } from '../layers/gateway/domain/basics/time.ts'
import type { CatalogData } from '../layers/gateway/domain/routing/catalog.ts'
import {
  readCatalogVersion,
  readStoredCatalog,
  type StoredCatalog,
} from '../layers/gateway/store/catalog/read-catalog.ts'
import { writeCatalog } from '../layers/gateway/store/catalog/write-catalog.ts'
import type { OperatorTables } from '../layers/gateway/store/sdk/operator-tables.ts'
import type { KeptEcho } from './echo-upstream.ts'
import { actBy } from './issue-key.ts'

const BY = 'waybill start'
/** Also as earlier versions wrote it. */
const BY_A_START = /^(waybill|npm) start$/
/** Differs from `BY`, so that the catalog still counts as its operator's. */
const ECHO_MOVED = 'waybill start, because echo has another address'

type InForce = StoredCatalog & {
  /** True if an operator put the catalog in force, and not a start: then the file has not been loaded. */
  readonly isOperators: boolean
}

/** Puts the file's catalog in force, unless an operator has put another one in force since. */
export async function catalogInForce(
  tables: OperatorTables,
  file: Pick<StoredCatalog, 'data' | 'source'>,
  echo: KeptEcho,
): Promise<InForce> {
  const stored = await readStoredCatalog(tables)()
  const isOperators = stored !== undefined && !BY_A_START.test(stored.pushedBy ?? '')
  const data = isOperators ? withEchoAt(stored.data, echo) : file.data
  if (stored && isDeepStrictEqual(plain(stored.data), plain(data))) return { ...stored, isOperators }
  const source = isOperators ? (await readCatalogVersion(tables)(stored.version))?.source : file.source
  const [nowMs, by] = [Date.now(), isOperators ? ECHO_MOVED : BY]
  const { version } = await writeCatalog(tables)(data, actBy(by, nowMs), { source })
  return { data, version, pushedAt: isoTime(nowMs), pushedBy: by, isOperators }
}

function withEchoAt(catalog: CatalogData, { url, formerUrl }: KeptEcho): CatalogData {
  const renamed = (name: string, value: unknown) => (name === 'baseUrl' && value === formerUrl ? url : value)
  return JSON.parse(JSON.stringify(catalog), renamed) as CatalogData
}

/** The catalog as it is stored: without undefined fields. */
function plain(catalog: CatalogData): unknown {
  return JSON.parse(JSON.stringify(catalog))
}
