import { isDeepStrictEqual } from 'node:util'
import type { z } from 'zod'
import type { ParsedCatalog } from '../../catalog/parse-catalog.ts'
import { isoTime } from '../../gateway/domain/basics/time.ts'
import type { CatalogData } from '../../gateway/domain/routing/catalog.ts'
import {
  listCatalogVersions,
  readCatalogVersion,
  readStoredCatalog,
  type StoredCatalog,
  type VersionNote,
  versionAt,
} from '../../gateway/store/catalog/read-catalog.ts'
import { type WriteOptions, writeCatalog } from '../../gateway/store/catalog/write-catalog.ts'
import { WriteOutcomeUnknown } from '../../gateway/store/dynamodb/transact.ts'
import { catalogRefusal, namingEcho, sourceOf } from '../catalog/catalog-refusal.ts'
import { changedProvider, compareCatalogs } from '../catalog/compare-catalogs.ts'
import { contextWarnings } from '../catalog/context-warnings.ts'
import { planWarnings, priceWarnings } from '../catalog/price-warnings.ts'
import { AdminError } from './admin-error.ts'
import type { Call } from './call.ts'
import { cursorOf, firstOf, listOf, readCursor } from './pages.ts'
import { expectedVersionOf, versionTag } from './preconditions.ts'
import type { List } from './shapes/answers.ts'
import type { PutCatalogBody, restoreBody } from './shapes/bodies.ts'
import type { CatalogCheck, CatalogShape, CatalogVersionShape } from './shapes/catalog.ts'
import type { catalogQuery, pageQuery, versionQuery } from './shapes/queries.ts'

export async function get(call: Call, { at: atMs }: z.output<typeof catalogQuery>): Promise<CatalogShape> {
  if (atMs !== undefined) return shown(call, await versionInForceAt(call, atMs))
  return shown(call, await catalogInForce(call))
}

export async function catalogInForce({ tables }: Pick<Call, 'tables'>): Promise<StoredCatalog> {
  const stored = await readStoredCatalog(tables)()
  if (stored) return stored
  throw new AdminError('not_found', 'There is no catalog yet. Put one in force with PUT /admin/v1/catalog.')
}

async function versionInForceAt({ tables }: Call, ms: number): Promise<StoredCatalog> {
  const note = await versionAt(listCatalogVersions(tables)(), ms)
  const known = note && (await readCatalogVersion(tables)(note.version))
  if (known) return known
  const message = `No version of the catalog is known that was in force at ${isoTime(ms)}.`
  throw new AdminError('not_found', message, { param: 'at' })
}

/** Only over the version that the caller expects: "0" if it expects none. */
export async function put(call: Call, { note, below_cost: isMeant, ...sent }: PutCatalogBody): Promise<CatalogShape> {
  const expectedVersion = expectedVersionOf(call)
  const catalog = validCatalog(await parseSent(call, sent))
  return putInForce(call, catalog, { expectedVersion, note, source: sourceOf(sent, catalog) }, isMeant)
}

export async function check(call: Call, sent: object): Promise<CatalogCheck> {
  const stored = await readStoredCatalog(call.tables)()
  const parsed = await parseSent(call, sent)
  const inForce = stored ? { version: stored.version, pushed_at: stored.pushedAt } : null
  const about = { object: 'catalog.check', in_force: inForce } as const
  if ('faults' in parsed)
    return { ...about, valid: false, faults: parsed.places, warnings: [], below_cost: [], changes: [] }
  const catalog = { ...parsed.catalog, plans: stored?.data.plans }
  const [refusal, belowCost] = [catalogRefusal(call, catalog), planWarnings(catalog)]
  const fault = refusal === undefined ? forbiddenChange(call, stored, catalog) : { path: 'catalog', message: refusal }
  return {
    ...about,
    valid: fault === undefined,
    faults: fault === undefined ? [] : [fault],
    warnings: [...priceWarnings(catalog), ...belowCost, ...(await contextWarnings(call, catalog))],
    below_cost: belowCost,
    changes: compareCatalogs(stored?.data, catalog),
  }
}

export async function listVersions(
  { tables }: Call,
  { limit, after }: z.output<typeof pageQuery>,
): Promise<List<CatalogVersionShape>> {
  const [last = Infinity] = readCursor(after, /^\d{1,15}$/) ?? []
  const inForce = await readStoredCatalog(tables)()
  const notes = await firstOf(listCatalogVersions(tables)(), limit + 1, ({ version }) => version < Number(last))
  const shape = (note: VersionNote) =>
    ({ object: 'catalog.version', ...pushOf(note), in_force: note.version === inForce?.version }) as const
  return listOf(notes, limit, shape, ({ version }) => cursorOf(version))
}

function pushOf({ version, pushedAt, pushedBy, note }: VersionNote) {
  return { version, pushed_at: pushedAt, by: pushedBy ?? null, note: note ?? null }
}

export async function getVersion(call: Call, { against }: z.output<typeof versionQuery>): Promise<CatalogShape> {
  return shown(call, await versionInPath(call), against)
}

export async function restoreVersion(call: Call, sent: z.output<typeof restoreBody>): Promise<CatalogShape> {
  const { note, below_cost: isMeant } = sent
  const expectedVersion = expectedVersionOf(call)
  const { version, data, source } = await versionInPath(call)
  const catalog = validCatalog(await parsed(withoutPlans(data)))
  return putInForce(call, catalog, { expectedVersion, rollbackTo: version, note, source }, isMeant)
}

export function refuseLosses(what: string, catalog: CatalogData, isMeant = false): void {
  const losses = planWarnings(catalog)
  if (losses.length === 0 || isMeant) return
  const message = `${what} sells below cost:\n  ${losses.join('\n  ')}\nSend below_cost if you want that.`
  throw new AdminError('below_cost', message, { param: 'below_cost' })
}

async function versionInPath({ tables, path }: Call): Promise<StoredCatalog> {
  const text = path.version ?? ''
  if (/^\d{1,15}$/.test(text)) return knownVersion(tables, Number(text))
  throw new AdminError('not_found', `There is no version '${text}' of the catalog: a version is a number.`)
}

async function knownVersion(tables: Call['tables'], version: number): Promise<StoredCatalog> {
  const known = await readCatalogVersion(tables)(version)
  if (known) return known
  const message = `There is no version ${version} of the catalog. GET /admin/v1/catalog/versions lists those that are kept.`
  throw new AdminError('not_found', message)
}

export async function putInForce(
  call: Call,
  catalog: CatalogData,
  options: WriteOptions & { readonly expectedVersion: number },
  isLossMeant = false,
): Promise<CatalogShape> {
  const { tables } = call
  const { expectedVersion } = options
  const stored = await requirePermitted(call, catalog, expectedVersion)
  refuseLosses('The catalog', { plans: stored?.data.plans, ...catalog }, isLossMeant)
  if (stored?.version === expectedVersion && (await isAsItIs(call, stored, catalog, options)))
    return shown(call, stored, expectedVersion)
  const { written, version } = await writeCatalog(tables)(catalog, await call.newAct(), options)
  if (!written) throw await stale(call, expectedVersion, version)
  try {
    await call.renewCatalog?.()
    return await shown(call, await knownVersion(tables, version))
  } catch (error) {
    // The catalog is in force, but the caller cannot be told so: the outcome is unknown to it.
    throw new WriteOutcomeUnknown(error)
  }
}

/** Compared only with the version that is replaced, so that no caller gets past this by a version that is yet to come. */
async function requirePermitted(call: Call, catalog: CatalogData, expectedVersion: number) {
  const stored = await readStoredCatalog(call.tables)()
  const refusal = catalogRefusal(call, { plans: stored?.data.plans, ...catalog })
  if (refusal !== undefined) throw new AdminError('invalid_catalog', refusal, { param: 'catalog' })
  if (!call.identity.isAdminKey) return stored
  const version = stored?.version ?? 0
  if (version !== expectedVersion) throw await stale(call, expectedVersion, version)
  const fault = forbiddenChange(call, stored, catalog)
  if (fault) throw new AdminError('provider_change_denied', fault.message, { param: fault.path })
  return stored
}

/** Then it makes no version. */
async function isAsItIs({ tables }: Call, { data, version }: StoredCatalog, catalog: CatalogData, now: WriteOptions) {
  const plain = (of: object): object => JSON.parse(JSON.stringify({ plans: data.plans, ...of }))
  if (!isDeepStrictEqual(plain(data), plain(catalog))) return false
  return (await readCatalogVersion(tables)(version))?.source === now.source
}

function forbiddenChange({ identity }: Call, stored: StoredCatalog | undefined, catalog: CatalogData) {
  return identity.isAdminKey ? changedProvider(stored?.data, catalog) : undefined
}

async function stale({ tables }: Call, expectedVersion: number, version: number): Promise<AdminError> {
  const seen = await readCatalogVersion(tables)(expectedVersion)
  const now = await readStoredCatalog(tables)()
  const changes = now ? compareCatalogs(seen?.data, now.data) : []
  const what = changes.length > 0 ? ` It changed:\n  ${changes.join('\n  ')}` : ''
  const message = `${now?.pushedBy ?? 'Somebody'} pushed version ${now?.version} of the catalog while you looked at ${seen?.version ?? 'none'}, so this one was not put in force.${what}`
  return new AdminError('stale_version', message, { headers: versionTag(version) })
}

function parseSent({ echoUrl }: Call, sent: object): Promise<ParsedCatalog> {
  return parsed(JSON.parse(JSON.stringify(sent), namingEcho(echoUrl)))
}

/** The validator is loaded lazily: it takes a sixth of the time in which the API loads, and few calls need it. */
async function parsed(data: unknown): Promise<ParsedCatalog> {
  const { parseCatalog } = await import('../../catalog/parse-catalog.ts')
  return parseCatalog(data)
}

function validCatalog(parsed: ParsedCatalog): CatalogData {
  if ('faults' in parsed) {
    const [fault] = parsed.places
    const more = parsed.places.length > 1 ? ` There are ${parsed.places.length - 1} more faults.` : ''
    const message = `The catalog is not valid: ${fault?.path}: ${fault?.message}.${more} POST /admin/v1/catalog/check lists them all.`
    throw new AdminError('invalid_catalog', message, { param: fault?.path ?? 'catalog' })
  }
  return parsed.catalog
}

const withoutPlans = ({ plans: _, ...catalog }: CatalogData): CatalogData => catalog

async function shown({ tables }: Call, stored: StoredCatalog, against?: number): Promise<CatalogShape> {
  const source = stored.source ?? (await readCatalogVersion(tables)(stored.version))?.source
  return {
    object: 'catalog',
    ...pushOf(stored),
    catalog: withoutPlans(stored.data),
    source: source === undefined ? null : JSON.parse(source),
    ...(await changesFrom(tables, stored, against)),
    warnings: [...priceWarnings(stored.data), ...planWarnings(stored.data)],
  }
}

/** Against the version before, if it is kept, or against the named one; 0 is none at all. */
async function changesFrom(tables: Call['tables'], { data, version }: StoredCatalog, against: number | undefined) {
  if (against !== undefined) {
    const before = against === 0 ? undefined : (await knownVersion(tables, against)).data
    return { changes: compareCatalogs(before, data), compared_to: against }
  }
  const before = await readCatalogVersion(tables)(version - 1)
  return { changes: before ? compareCatalogs(before.data, data) : [], compared_to: before?.version ?? null }
}
