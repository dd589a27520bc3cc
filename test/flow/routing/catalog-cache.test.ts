import { expect, test } from '@jest/globals'
import type { CatalogData } from '../../../layers/gateway/domain/routing/catalog.ts'
import { cachedCatalog } from '../../../layers/gateway/flow/routing/catalog-cache.ts'
import type { StoredCatalog } from '../../../layers/gateway/store/catalog/read-catalog.ts'

const DATA: CatalogData = { providers: {}, models: [] }
const FIRST: StoredCatalog = { data: DATA, version: 7, pushedAt: '2026-01-01T00:00:00.000Z' }

/** A cache over one stored catalog that can be replaced, after its time is over with every look. */
function open() {
  let stored: StoredCatalog | undefined = FIRST
  let nowMs = 0
  const load = cachedCatalog(
    async () => stored,
    () => nowMs,
  )
  return {
    push(next: StoredCatalog | undefined) {
      stored = next
    },
    load() {
      nowMs += 30_000
      return load()
    },
  }
}

test('a catalog that is still in force when it is read again stays open, with its providers', async () => {
  const cache = open()
  const first = await cache.load()
  cache.push({ ...FIRST, data: { ...DATA } })
  expect(await cache.load()).toBe(first)
})

test.each([
  ['has another version', { ...FIRST, version: 8 }],
  ['has the version of one that a restored table has lost', { ...FIRST, pushedAt: '2026-01-02T00:00:00.000Z' }],
  ['is none', undefined],
])('a catalog that %s is opened when it is read', async (_, next) => {
  const cache = open()
  const first = await cache.load()
  cache.push(next)
  const second = await cache.load()
  expect(second).not.toBe(first)
  expect(second.version).toBe(next?.version ?? 0)
  cache.push(FIRST)
  expect((await cache.load()).version).toBe(7)
})
