import { type Catalog, EMPTY_CATALOG, openCatalog } from '../../domain/routing/catalog.ts'
import type { ReadCatalog, StoredCatalog } from '../../store/catalog/read-catalog.ts'

/** Not a promise if a catalog is cached. */
export type LoadCatalog = () => Catalog | Promise<Catalog>

type Cached = { readonly catalog: Catalog; readonly pushedAt: string | undefined; readonly readAtMs: number }

/** A catalog is never older than this when it is used. */
const MAX_AGE_MS = 30_000
/** From this age on the next one is fetched in the background, so that a busy instance never waits for it. */
const REFRESH_AGE_MS = 20_000

export function cachedCatalog(readCatalog: ReadCatalog, clock: () => number): LoadCatalog {
  let current: Cached | undefined
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
    const catalog = stored ? open(stored, current) : EMPTY_CATALOG
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

/** A catalog that is still in force stays open, and so do its providers. */
function open({ data, version, pushedAt }: StoredCatalog, current: Cached | undefined): Catalog {
  const isInForce = current?.catalog.version === version && current.pushedAt === pushedAt
  return isInForce ? current.catalog : openCatalog(data, version)
}

/** Starts the catalog's read in parallel to the key's, on an instance that has neither. */
export function prefetching(loadCatalog: LoadCatalog): () => void {
  return () => {
    const loading = loadCatalog()
    if (loading instanceof Promise) loading.catch(() => {})
  }
}
