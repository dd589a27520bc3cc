import { UpdateCommand } from '@aws-sdk/lib-dynamodb'
import type { CatalogData } from '../domain/catalog.ts'
import { CATALOG_ITEM } from './key-item.ts'
import type { Tables } from './tables.ts'

/** Replaces the catalog whole and returns its new version. */
export type WriteCatalog = (catalog: CatalogData, nowMs: number) => Promise<number>

export function writeCatalog({ client, keys }: Tables): WriteCatalog {
  return async (catalog, nowMs) => {
    const { Attributes } = await client.send(
      new UpdateCommand({
        TableName: keys,
        Key: CATALOG_ITEM,
        UpdateExpression:
          'SET #catalog = :catalog, pushedAt = :pushedAt, version = if_not_exists(version, :zero) + :one',
        ExpressionAttributeNames: { '#catalog': 'catalog' },
        ExpressionAttributeValues: {
          ':catalog': catalog,
          ':pushedAt': new Date(nowMs).toISOString(),
          ':zero': 0,
          ':one': 1,
        },
        ReturnValues: 'UPDATED_NEW',
      }),
    )
    return Attributes?.version as number
  }
}
