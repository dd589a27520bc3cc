import { type ParsedCatalog, parseCatalog } from '../layers/catalog/parse-catalog.ts'
import type { Log } from '../layers/gateway/platform/log/log.ts'
import type { ReadCatalog, StoredCatalog } from '../layers/gateway/store/catalog/read-catalog.ts'

const FAULTS_SHOWN = 3

/**
 * The local table's catalog, checked like a file whenever it is read: every program on this machine can write into that
 * table. An invalid one is refused, and the last good one stays in force.
 */
export function checkedCatalog(read: ReadCatalog, loaded: StoredCatalog, log: Log): ReadCatalog {
  let lastGood = loaded
  return async () => {
    const stored = await read()
    if (!stored) return undefined
    const parsed = parseStored(stored)
    if ('catalog' in parsed) lastGood = { ...stored, data: parsed.catalog }
    else {
      // Quoted, because a fault may repeat a name from the table, and a terminal obeys control characters.
      const shown = parsed.faults.slice(0, FAULTS_SHOWN).map((fault) => JSON.stringify(fault))
      log.problem('the catalog in the table is not valid, so the last good one stays in force', shown.join(', '), '-')
    }
    return lastGood
  }
}

function parseStored({ data, version }: StoredCatalog): ParsedCatalog {
  return Number.isSafeInteger(version)
    ? parseCatalog(data)
    : { faults: ['version: must be a whole number'], places: [] }
}
