import type { Tables } from '../tables.ts'
import { type CatalogVersion, toCatalogVersion, versionItem } from './catalog-version.ts'
import { readStoredCatalog } from './read-stored-catalog.ts'

type ReadCatalogVersion = (version: number) => Promise<CatalogVersion | undefined>

/** A version with its content. The catalog of a first deployment is not in the history until the next one is pushed. */
export function readCatalogVersion(tables: Tables): ReadCatalogVersion {
  const { database, keys } = tables
  return async (version) => {
    const { Item } = await database.get({ TableName: keys, Key: versionItem(version), ConsistentRead: true })
    if (Item) return toCatalogVersion(Item)
    const inForce = await readStoredCatalog(tables)()
    return inForce?.version === version ? inForce : undefined
  }
}
