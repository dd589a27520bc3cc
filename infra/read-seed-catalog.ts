import { readFileSync } from 'node:fs'
import { parseCatalog } from '../catalog/parse-catalog.ts'
import type { CatalogData } from '../layers/gateway/domain/catalog.ts'

/** The catalog that the first deployment puts in force. */
export function readSeedCatalog(file = new URL('catalog.json', import.meta.url)): CatalogData {
  const parsed = parseCatalog(JSON.parse(readFileSync(file, 'utf8')))
  if ('catalog' in parsed) return parsed.catalog
  throw new Error(`infra/catalog.json is not valid: ${parsed.faults.join('; ')}`)
}
