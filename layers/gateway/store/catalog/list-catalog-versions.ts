import { ITEMS } from '../../contract.ts'
import { queryItems } from '../database.ts'
import type { Tables } from '../tables.ts'
import { type CatalogVersion, toCatalogVersion } from './catalog-version.ts'
import { readStoredCatalog } from './read-stored-catalog.ts'

type VersionNote = Omit<CatalogVersion, 'data'>

/** Newest first, without their content. */
type ListCatalogVersions = () => AsyncGenerator<VersionNote, void, undefined>

export function listCatalogVersions(tables: Tables): ListCatalogVersions {
  const { database, keys } = tables
  return async function* versions() {
    let isEmpty = true
    const items = queryItems(database, {
      TableName: keys,
      KeyConditionExpression: 'pk = :pk',
      ExpressionAttributeValues: { ':pk': ITEMS.versions },
      ProjectionExpression: 'version, pushedAt, pushedBy',
      ConsistentRead: true,
      ScanIndexForward: false,
    })
    for await (const item of items) {
      isEmpty = false
      yield noteOf(toCatalogVersion(item))
    }
    // The catalog of a first deployment is not in the history until the next one is pushed.
    const inForce = isEmpty && (await readStoredCatalog(tables)())
    if (inForce) yield noteOf(inForce)
  }
}

/** The newest version that had been pushed by a moment; the one that a first deployment brought was there before all. */
export async function versionAt(versions: AsyncIterable<VersionNote>, ms: number): Promise<VersionNote | undefined> {
  for await (const note of versions) {
    const pushedAtMs = Date.parse(note.pushedAt)
    if (Number.isNaN(pushedAtMs) || pushedAtMs <= ms) return note
  }
  return undefined
}

function noteOf({ version, pushedAt, pushedBy }: CatalogVersion): VersionNote {
  return { version, pushedAt, ...(pushedBy !== undefined && { pushedBy }) }
}
