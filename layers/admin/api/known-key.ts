import type { Key } from '../../gateway/domain/keys/key.ts'
import type { Tables } from '../../gateway/store/dynamodb/tables.ts'
import { readKey } from '../../gateway/store/keys/read-key.ts'
import { AdminError } from './admin-error.ts'

/** The key with an id, which the caller gave as `param` if it was not in the path. */
export async function knownKey(tables: Tables, id: string, param?: string): Promise<Key> {
  const key = await readKey(tables)(id)
  if (!key) throw noSuchKey(id, param)
  return key
}

export function noSuchKey(id: string, param?: string): AdminError {
  const shown = id.length > 100 ? `${id.slice(0, 100)}…` : id
  return new AdminError('not_found', `There is no key '${shown}'.`, param === undefined ? {} : { param })
}
