import type { CatalogData } from '../../domain/routing/catalog.ts'
import { CATALOG_HEAD, CATALOG_ITEM, ITEMS, SCHEMA_VERSION } from '../../names.ts'
import { ServiceError } from '../../platform/aws/service-error.ts'
import { type Item, itemReader, queryItems, type Tables } from '../dynamodb/database.ts'

/** A catalog that is in force, or was. The one of a first deployment was pushed by nobody. */
export type StoredCatalog = {
  readonly data: CatalogData
  readonly version: number
  readonly pushedAt: string
  readonly pushedBy?: string | undefined
  /** Why it was pushed, in the operator's words. */
  readonly note?: string | undefined
  /** In JSON as its author wrote it: a table keeps no order. Beside the version, and not where the gateway reads it. */
  readonly source?: string | undefined
}

export type ReadCatalog = () => Promise<StoredCatalog | undefined>

export function readStoredCatalog({ database, keys }: Tables): ReadCatalog {
  return itemReader(database, keys, () => CATALOG_ITEM, toCatalog)
}

/** Tells one catalog in force from another: a restored table may have another one under the same version. */
export type CatalogStamp = Pick<StoredCatalog, 'version' | 'pushedAt'>

export type ReadNewCatalog = (known?: CatalogStamp) => Promise<StoredCatalog | 'unchanged' | undefined>

/** An instance that knows a catalog reads the small item first. A new one reads the whole at once, and waits for one read. */
export function readNewCatalog(tables: Tables): ReadNewCatalog {
  const [readHead, readWhole] = [readCatalogHead(tables), readStoredCatalog(tables)]
  return async (known) => {
    if (known && isSameCatalog(known, await readHead())) return 'unchanged'
    // The catalog of a first deployment has no small item until the next one is pushed.
    const whole = await readWhole()
    return known && isSameCatalog(known, whole) ? 'unchanged' : whole
  }
}

export function isSameCatalog(known: CatalogStamp, read: CatalogStamp | undefined): boolean {
  return known.version === read?.version && known.pushedAt === read.pushedAt
}

/** Throws a NewerSchema. */
export function readCatalogHead({ database, keys }: Tables) {
  return itemReader(database, keys, () => CATALOG_HEAD, noteOf)
}

/** It counts as a database that cannot be reached: the caller gets a 503, and nothing is written. */
export class NewerSchema extends ServiceError {
  constructor(found: unknown) {
    const words = `The tables are of a newer Waybill: their schema is ${found}, and this one knows ${SCHEMA_VERSION}. Nothing was done. Use the version that wrote them, or a newer one.`
    super('NewerSchema', words, { isServers: true })
  }
}

/** A version with its content. The catalog of a first deployment is not in the history until the next one is pushed. */
export function readCatalogVersion(tables: Tables) {
  const { database, keys } = tables
  return async (version: number): Promise<StoredCatalog | undefined> => {
    const { Item } = await database.get({ TableName: keys, Key: versionItem(version), ConsistentRead: true })
    if (Item) return toCatalog(Item)
    const inForce = await readStoredCatalog(tables)()
    return inForce?.version === version ? inForce : undefined
  }
}

export type VersionNote = Omit<StoredCatalog, 'data' | 'source'>

/** Newest first, without their content. */
export function listCatalogVersions(tables: Tables) {
  const { database, keys } = tables
  return async function* versions(): AsyncGenerator<VersionNote, void, undefined> {
    let isEmpty = true
    const items = queryItems(database, {
      TableName: keys,
      KeyConditionExpression: 'pk = :pk',
      ExpressionAttributeValues: { ':pk': ITEMS.versions },
      ProjectionExpression: 'version, pushedAt, pushedBy, note',
      ConsistentRead: true,
      ScanIndexForward: false,
    })
    for await (const item of items) {
      isEmpty = false
      yield noteOf(item)
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

/** The digits of the longest safe integer, so that texts sort as the versions do. */
const DIGITS = 16

export const versionItem = (version: number) => ({ pk: ITEMS.versions, sk: String(version).padStart(DIGITS, '0') })

function toCatalog(item: Item): StoredCatalog {
  const { catalog, source } = item
  return { data: catalog as CatalogData, ...noteOf(item), ...(source !== undefined && { source: source as string }) }
}

function noteOf({ version, pushedAt, pushedBy, note, schemaVersion = 0 }: Item): VersionNote {
  if ((schemaVersion as number) > SCHEMA_VERSION) throw new NewerSchema(schemaVersion)
  return {
    version: version as number,
    pushedAt: pushedAt as string,
    ...(pushedBy !== undefined && { pushedBy: pushedBy as string }),
    ...(note !== undefined && { note: note as string }),
  }
}
