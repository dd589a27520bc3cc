import { type Catalog, EMPTY_CATALOG, openCatalog } from '../../domain/routing/catalog.ts'
import type { CatalogStamp, ReadNewCatalog } from '../../store/catalog/read-catalog.ts'

/** Not a promise if a catalog is cached. */
export type LoadCatalog = () => Catalog | Promise<Catalog>

/** A catalog is never older than this when it is used. */
const MAX_AGE_MS = 30_000
/** From this age on the next one is fetched in the background, so that a busy instance never waits for it. */
const REFRESH_AGE_MS = 20_000

export function cachedCatalog(readCatalog: ReadNewCatalog, clock: () => number) {
  let current: Catalog = EMPTY_CATALOG
  let stamp: CatalogStamp | undefined
  let readAtMs = -Infinity
  let reading: Promise<Catalog> | undefined

  function refresh(): Promise<Catalog> {
    reading ??= read().finally(() => {
      reading = undefined
    })
    return reading
  }

  async function read(): Promise<Catalog> {
    const nowMs = clock()
    const stored = await readCatalog(stamp)
    // A catalog that is still in force stays open, and so do its providers.
    if (stored !== 'unchanged') {
      current = stored ? openCatalog(stored.data, stored.version) : EMPTY_CATALOG
      stamp = stored && { version: stored.version, pushedAt: stored.pushedAt }
    }
    readAtMs = nowMs
    return current
  }

  return Object.assign(loadCatalog, { renew })

  /** The catalog as it is from now on: a read that has begun before may not know it yet. */
  async function renew(): Promise<Catalog> {
    await reading?.catch(() => {})
    return refresh()
  }

  function loadCatalog(): Catalog | Promise<Catalog> {
    const ageMs = clock() - readAtMs
    if (ageMs >= MAX_AGE_MS || ageMs < 0) return refresh()
    if (ageMs >= REFRESH_AGE_MS) refresh().catch(() => {})
    return current
  }
}

/** Starts the catalog's read in parallel to the key's, on an instance that has neither. */
export function prefetching(loadCatalog: LoadCatalog): () => void {
  return () => {
    const loading = loadCatalog()
    if (loading instanceof Promise) loading.catch(() => {})
  }
}
