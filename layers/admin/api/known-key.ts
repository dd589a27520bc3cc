import { CliError } from '../../../operator/cli-error.ts'
import type { Key } from '../../gateway/domain/key.ts'
import { readKey } from '../../gateway/store/keys/read-key.ts'
import type { Tables } from '../../gateway/store/tables.ts'

export async function knownKey(tables: Tables, id: string): Promise<Key> {
  const key = await readKey(tables)(id)
  if (!key) throw noSuchKey(id)
  return key
}

export function noSuchKey(id: string): CliError {
  return new CliError(`There is no key '${id}'. 'waybill keys list' shows those that exist.`)
}
