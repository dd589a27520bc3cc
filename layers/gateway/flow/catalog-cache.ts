import { type Catalog, type CatalogData, EMPTY_CATALOG, openCatalog } from '../domain/catalog.ts'

/** At once, if one is at hand. */
export type LoadCatalog = () => Catalog | Promise<Catalog>

type StoredCatalog = { readonly data: CatalogData; readonly version: number; readonly pushedAt: string }
type ReadCatalog = () => Promise<StoredCatalog | undefined>

/** A catalog is never older than this when it is used. */
const MAX_AGE_MS = 30_000
/** From this age on the next one is fetched beside a request, so that a busy instance never waits for it. */
const REFRESH_AGE_MS = 20_000

export function cachedCatalog(readCatalog: ReadCatalog, clock: () => number): LoadCatalog {
  let current: { catalog: Catalog; pushedAt: string | undefined; readAtMs: number } | undefined
  let reading: Promise<Catalog> | undefined

  function refresh(): Promise<Catalog> {
    reading ??= read().finally(() => {
      reading = undefined
    })
    return reading
  }

  async function read(): Promise<Catalog> {
    const readAtMs = clock()
    const stored = await readCatalog()
    // One that is still in force stays open, and so do its providers.
    const isSame = stored && current?.catalog.version === stored.version && current.pushedAt === stored.pushedAt
    const opened = () => (stored ? openCatalog(stored.data, stored.version) : EMPTY_CATALOG)
    const catalog = isSame && current ? current.catalog : opened()
    current = { catalog, pushedAt: stored?.pushedAt, readAtMs }
    return catalog
  }

  return function loadCatalog() {
    const ageMs = current ? clock() - current.readAtMs : Number.POSITIVE_INFINITY
    if (!current || ageMs >= MAX_AGE_MS || ageMs < 0) return refresh()
    if (ageMs >= REFRESH_AGE_MS) refresh().catch(() => {})
    return current.catalog
  }
}

/** Starts the catalog's read beside the key's, on an instance that has neither. */
export function prefetching(loadCatalog: LoadCatalog): () => void {
  return () => {
    const loading = loadCatalog()
    if (loading instanceof Promise) loading.catch(() => {})
  }
}
