import { isoTime } from '../../domain/basics/time.ts'
import { ITEMS } from '../../names.ts'
import type { Tables } from '../dynamodb/tables.ts'

export type LastAudit = { readonly atMs: number; readonly keys: number; readonly wrong: number }

const AUDIT_ITEM = { pk: ITEMS.audit, sk: ITEMS.audit }

export function readLastAudit({ database, keys }: Tables) {
  return async (): Promise<LastAudit | undefined> => {
    const { Item } = await database.get({ TableName: keys, Key: AUDIT_ITEM, ConsistentRead: true })
    return Item && { atMs: Date.parse(Item.at as string), keys: Item.keys as number, wrong: Item.wrong as number }
  }
}

export function noteAudit({ database, keys: TableName }: Tables) {
  return async ({ atMs, keys, wrong }: LastAudit): Promise<void> => {
    await database.put({ TableName, Item: { ...AUDIT_ITEM, at: isoTime(atMs), keys, wrong } })
  }
}
