import { isDeepStrictEqual } from 'node:util'
import { readCatalogFile, readCatalogJson } from '../cli/commands/read-catalog-file.ts'
import { parseStored } from '../layers/catalog/parse-catalog.ts'
import { isoTime } from '../layers/gateway/domain/basics/time.ts'
import { apiKeyOf, type CatalogData, type CatalogModel } from '../layers/gateway/domain/routing/catalog.ts'
import { readVariable } from '../layers/gateway/platform/config.ts'
import type { Log } from '../layers/gateway/platform/log/log.ts'
import {
  isSameCatalog,
  type ReadCatalog,
  type ReadNewCatalog,
  readCatalogVersion,
  readStoredCatalog,
  type StoredCatalog,
} from '../layers/gateway/store/catalog/read-catalog.ts'
import { writeCatalog } from '../layers/gateway/store/catalog/write-catalog.ts'
import type { Tables } from '../layers/gateway/store/dynamodb/database.ts'
import type { KeptEcho } from './echo-upstream.ts'
import { actBy } from './issue-key.ts'

export type LocalCatalog = Awaited<ReturnType<typeof loadLocalCatalog>>

/** Routes whose provider key is not in the environment are left out, and models left without any are off. */
export async function loadLocalCatalog(file: string, echoUrl: string) {
  const catalog = await readCatalogFile(file, echoUrl)
  const missing = new Map<string, string>()
  for (const [id, entry] of Object.entries(catalog.providers)) {
    const apiKey = apiKeyOf(entry)
    if (apiKey?.startsWith('secret:')) missing.set(id, `${apiKey} (only in AWS)`)
    if (apiKey?.startsWith('env:') && readVariable(apiKey.slice(4)) === undefined) missing.set(id, apiKey.slice(4))
  }
  const here = <T extends CatalogModel>(model: T): T => {
    const routes = model.routes.filter(({ provider }) => !missing.has(provider))
    return routes.length > 0 ? { ...model, routes } : { ...model, active: false }
  }
  const isOff = ({ routes }: CatalogModel) => routes.every(({ provider }) => missing.has(provider))
  // With the variables that would give them a route.
  const off = catalog.models.filter(isOff).map(({ id, routes }) => ({
    model: id,
    missing: routes.map(({ provider }) => missing.get(provider) ?? provider),
  }))
  const written = (await readCatalogJson(file)) as CatalogData
  const source = JSON.stringify({ ...written, models: written.models.map(here) })
  return { catalog: { ...catalog, models: catalog.models.map(here) }, source, off }
}

const BY = 'waybill start'
/** Also as earlier versions wrote it. */
const BY_A_START = /^(waybill|npm) start$/
/** Differs from `BY`, so that the catalog still counts as its operator's. */
const ECHO_MOVED = 'waybill start, because echo has another address'

/** `isOperators` if an operator put it in force, and not a start: then the file has not been loaded. */
export type InForce = StoredCatalog & { readonly isOperators: boolean }

/** Puts the file's catalog in force, unless an operator has put another one in force since. */
export async function catalogInForce(
  tables: Tables,
  file: Pick<StoredCatalog, 'data' | 'source'>,
  echo: KeptEcho,
): Promise<InForce> {
  const stored = await readStoredCatalog(tables)()
  const isOperators = stored !== undefined && !BY_A_START.test(stored.pushedBy ?? '')
  const data = isOperators ? withEchoAt(stored.data, echo) : { ...file.data, plans: stored?.data.plans }
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

function plain(catalog: CatalogData): unknown {
  return JSON.parse(JSON.stringify(catalog))
}

/** Checked at every read: every program here can write the table. An invalid one leaves the last in force. */
export function checkedCatalog(read: ReadCatalog, loaded: StoredCatalog, log: Log): ReadNewCatalog {
  let lastGood = loaded
  return async (known) => {
    const stored = await read()
    if (!stored) return undefined
    const noVersion = { faults: ['version: must be a whole number'] }
    const parsed = Number.isSafeInteger(stored.version) ? parseStored(stored.data) : noVersion
    if ('catalog' in parsed) lastGood = { ...stored, data: parsed.catalog }
    else {
      // Quoted, because a fault may repeat a name from the table, and a terminal obeys control characters.
      const shown = parsed.faults.slice(0, 3).map((fault) => JSON.stringify(fault))
      log.problem('the catalog in the table is not valid, so the last good one stays in force', shown.join(', '), '-')
    }
    return known && isSameCatalog(lastGood, known) ? 'unchanged' : lastGood
  }
}
