import { isoTime } from '../../domain/basics/time.ts'
import type { Act } from '../../domain/keys/act.ts'
import { changeEvent } from '../../domain/keys/change-event.ts'
import type { CatalogData } from '../../domain/routing/catalog.ts'
import { CATALOG_HEAD, CATALOG_ITEM, SCHEMA_VERSION } from '../../names.ts'
import type { Tables, TransactItem } from '../dynamodb/database.ts'
import { putNew } from '../dynamodb/transact.ts'
import { CATALOG_EVENTS, findEvent, makeOnce, putEvent } from '../events/events.ts'
import { againAfterOthers, VersionConflict } from '../keys/change-key.ts'
import { readStoredCatalog, type StoredCatalog, versionItem } from './read-catalog.ts'

type WriteResult = { readonly written: boolean; readonly version: number }

export type WriteOptions = {
  /** Only over this version, 0 for none; without it, over any version. */
  readonly expectedVersion?: number | undefined
  readonly rollbackTo?: number | undefined
  readonly plan?: string | undefined
  readonly note?: string | undefined
  readonly source?: string | undefined
}

/** Replaces the whole catalog; one without plans keeps those in force, in the same write. The version that was in force stays in the history. */
export function writeCatalog(tables: Tables) {
  const read = readStoredCatalog(tables)
  return (catalog: CatalogData, act: Act, options: WriteOptions = {}): Promise<WriteResult> => {
    const { expectedVersion, rollbackTo, plan, source } = options
    const note = options.note === undefined ? {} : { note: options.note }
    return againAfterOthers(act, write)

    async function write(): Promise<WriteResult> {
      const before = await read()
      const version = before?.version ?? 0
      if (expectedVersion !== undefined && expectedVersion !== version) return conflictWith(version)
      const { plans = before?.data.plans, ...file } = catalog
      const data = { ...file, ...(plans && { plans }) }
      const next = { data, version: version + 1, pushedAt: isoTime(act.atMs), pushedBy: act.by, ...note }
      const what = plan !== undefined ? 'catalog.plan' : rollbackTo === undefined ? 'catalog.push' : 'catalog.rollback'
      const after = { ...(plan !== undefined && { plan, factor: plans?.[plan]?.factor }), ...note }
      const event = changeEvent(act, what, {
        before: { version },
        after: { version: next.version, ...(rollbackTo !== undefined && { contentOf: rollbackTo }), ...after },
      })
      const made = await makeOnce(tables, CATALOG_EVENTS, act, [
        ...replace(tables, next),
        putVersion(tables, { ...next, ...(source !== undefined && { source }) }),
        ...(before && !(await isInHistory(tables, version)) ? [putVersion(tables, before)] : []),
        ...putEvent(tables, event),
      ])
      if (made === 'now') return { written: true, version: next.version }
      const result = await conflictWith((await read())?.version ?? 0)
      if (expectedVersion !== undefined || result.written) return result
      throw new VersionConflict('Others pushed the catalog again and again. Try again.')
    }

    /** The conflict is with the act itself, if its answer was lost and it is sent again. */
    async function conflictWith(version: number): Promise<WriteResult> {
      const event = await findEvent(tables)(CATALOG_EVENTS, act.id)
      return event ? { written: true, version: event.after.version as number } : { written: false, version }
    }
  }
}

/** A schema that is newer than ours stays. */
const STAMP = 'version = :version, pushedAt = :pushedAt, schemaVersion = if_not_exists(schemaVersion, :schema)'

function replace({ keys }: Tables, { data, version, pushedAt, pushedBy, note }: StoredCatalog): TransactItem[] {
  const stamp = { ':version': version, ':pushedAt': pushedAt, ':schema': SCHEMA_VERSION }
  const setNote = note === undefined ? ' REMOVE note, #source' : ', note = :note REMOVE #source'
  const whole = {
    Key: CATALOG_ITEM,
    ConditionExpression: version === 1 ? 'attribute_not_exists(version)' : 'version = :before',
    UpdateExpression: `SET ${STAMP}, #catalog = :catalog, pushedBy = :pushedBy${setNote}`,
    ExpressionAttributeNames: { '#catalog': 'catalog', '#source': 'source' },
    ExpressionAttributeValues: {
      ...stamp,
      ':catalog': data,
      ':pushedBy': pushedBy,
      ...(note !== undefined && { ':note': note }),
      ...(version !== 1 && { ':before': version - 1 }),
    },
  }
  const head = { Key: CATALOG_HEAD, UpdateExpression: `SET ${STAMP}`, ExpressionAttributeValues: stamp }
  return [whole, head].map((update) => ({ Update: { TableName: keys, ...update } }))
}

function putVersion({ keys }: Tables, { data, ...note }: StoredCatalog): TransactItem {
  return putNew(keys, { ...versionItem(note.version), catalog: data, ...note })
}

async function isInHistory({ database, keys }: Tables, version: number): Promise<boolean> {
  const Key = versionItem(version)
  const { Item } = await database.get({ TableName: keys, Key, ConsistentRead: true, ProjectionExpression: 'pk' })
  return Item !== undefined
}
