import type { Key } from '../layers/gateway/domain/key.ts'
import { readKey } from '../layers/gateway/store/keys/read-key.ts'
import type { Tables } from '../layers/gateway/store/tables.ts'
import { CliError } from './cli-error.ts'

export async function knownKey(tables: Tables, id: string): Promise<Key> {
  const key = await readKey(tables)(id)
  if (!key) throw noSuchKey(id)
  return key
}

export function noSuchKey(id: string): CliError {
  return new CliError(`There is no key '${id}'. 'waybill keys list' shows those that exist.`)
}
