import { readStoredCatalog, type StoredCatalog } from '../../gateway/store/catalog/read-catalog.ts'
import type { Tables } from '../../gateway/store/tables.ts'
import { compareCatalogs } from './compare-catalogs.ts'

/** Who has put another version in force since this one was shown, and what that changed. */
export async function otherPush(
  tables: Tables,
  shown: Pick<StoredCatalog, 'data' | 'version'> | undefined,
): Promise<string> {
  const now = await readStoredCatalog(tables)()
  const changes = now ? compareCatalogs(shown?.data, now.data) : []
  const what = changes.length > 0 ? `It changed:\n  ${changes.join('\n  ')}\n` : ''
  return `${now?.pushedBy ?? 'Somebody'} pushed version ${now?.version} of the catalog while you looked at ${shown?.version ?? 'none'}, so this one was not put in force. ${what}`
}
