import type { Key } from '../../domain/key.ts'
import type { Tables } from '../tables.ts'
import { KEY_ITEMS } from './key-item.ts'
import { findId, listAll, readOne } from './rotating-item.ts'

export type ReadKey = (keyId: string) => Promise<Key | undefined>

export function readKey(tables: Tables): ReadKey {
  return readOne(tables, KEY_ITEMS)
}

export type FindKeyId = (hash: string) => Promise<string | undefined>

export function findKeyId(tables: Tables): FindKeyId {
  return findId(tables, KEY_ITEMS)
}

export function listKeys(tables: Tables) {
  return listAll(tables, KEY_ITEMS)
}
