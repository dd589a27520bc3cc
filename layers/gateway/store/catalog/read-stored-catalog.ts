import { CATALOG_ITEM } from '../../contract.ts'
import type { CatalogData } from '../../domain/catalog.ts'
import type { Tables } from '../tables.ts'

export type StoredCatalog = {
  readonly data: CatalogData
  readonly version: number
  readonly pushedAt: string
  readonly pushedBy?: string | undefined
}
export type ReadCatalog = () => Promise<StoredCatalog | undefined>

export function readStoredCatalog({ database, keys }: Tables): ReadCatalog {
  return async () => {
    const { Item } = await database.get({ TableName: keys, Key: CATALOG_ITEM, ConsistentRead: true })
    return (
      Item && {
        data: Item.catalog as CatalogData,
        version: Item.version as number,
        pushedAt: Item.pushedAt as string,
        ...(Item.pushedBy !== undefined && { pushedBy: Item.pushedBy as string }),
      }
    )
  }
}
