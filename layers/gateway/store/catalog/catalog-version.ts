import { ITEMS } from '../../contract.ts'
import type { CatalogData } from '../../domain/catalog.ts'
import type { Item } from '../database.ts'
import type { StoredCatalog } from './read-stored-catalog.ts'

/** The catalog of a first deployment has no author. */
export type CatalogVersion = StoredCatalog

/** The digits of the longest safe integer, so that texts sort as the versions do. */
const DIGITS = 16

export const versionItem = (version: number) => ({ pk: ITEMS.versions, sk: String(version).padStart(DIGITS, '0') })

export function toVersionItem({ data, version, pushedAt, pushedBy }: CatalogVersion): Item {
  return { ...versionItem(version), catalog: data, version, pushedAt, pushedBy }
}

export function toCatalogVersion(item: Item): CatalogVersion {
  return {
    data: item.catalog as CatalogData,
    version: item.version as number,
    pushedAt: item.pushedAt as string,
    ...(item.pushedBy !== undefined && { pushedBy: item.pushedBy as string }),
  }
}
