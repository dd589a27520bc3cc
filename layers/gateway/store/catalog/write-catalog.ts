import { randomUUID } from 'node:crypto'
import { CATALOG_ITEM } from '../../contract.ts'
import type { CatalogData } from '../../domain/catalog.ts'
import type { Item, UpdateInput } from '../database.ts'
import { isConditionFailed } from '../failures.ts'
import type { Tables } from '../tables.ts'

/** The version that was written, or the one that somebody else has put in force. */
type WriteResult = { readonly written: boolean; readonly version: number }

/** Replaces the catalog whole: the one of version `shown`, 0 for none, or without it whichever is in force. */
type WriteCatalog = (catalog: CatalogData, nowMs: number, shown?: number) => Promise<WriteResult>

export function writeCatalog({ database, keys }: Tables): WriteCatalog {
  return async (catalog, nowMs, shown) => {
    const write = { TableName: keys, Key: CATALOG_ITEM, ...replacing(catalog, nowMs) }
    if (shown === undefined) return landed((await database.update(write)).Attributes)
    const pushId = randomUUID()
    try {
      return landed((await database.update(onlyOver(shown, write, pushId))).Attributes)
    } catch (error) {
      if (!isConditionFailed(error)) throw error
      const { Item: now = {} } = error
      // An unanswered write is sent again, and then the first one stands in its way.
      return { written: now.pushId === pushId, version: (now.version as number | undefined) ?? 0 }
    }
  }
}

function replacing(catalog: CatalogData, nowMs: number) {
  return {
    UpdateExpression: 'SET #catalog = :catalog, pushedAt = :pushedAt, version = if_not_exists(version, :zero) + :one',
    ExpressionAttributeNames: { '#catalog': 'catalog' },
    ExpressionAttributeValues: {
      ':catalog': catalog,
      ':pushedAt': new Date(nowMs).toISOString(),
      ':zero': 0,
      ':one': 1,
    },
    ReturnValues: 'UPDATED_NEW' as const,
  }
}

function onlyOver(shown: number, write: UpdateInput, pushId: string): UpdateInput {
  return {
    ...write,
    UpdateExpression: `${write.UpdateExpression}, pushId = :pushId`,
    ConditionExpression: shown === 0 ? 'attribute_not_exists(version)' : 'version = :shown',
    ExpressionAttributeValues: {
      ...write.ExpressionAttributeValues,
      ':pushId': pushId,
      ...(shown !== 0 && { ':shown': shown }),
    },
    ReturnValuesOnConditionCheckFailure: 'ALL_OLD',
  }
}

function landed(attributes: Item | undefined): WriteResult {
  return { written: true, version: attributes?.version as number }
}
