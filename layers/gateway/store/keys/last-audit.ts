import { DAY_MS, isoTime } from '../../domain/basics/time.ts'
import { ITEMS } from '../../names.ts'
import { itemReader, type Tables } from '../dynamodb/database.ts'

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

const progressItem = (name: string) => ({ pk: ITEMS.audit, sk: `PROGRESS#${name}` })

/** Keeps the state of an audit that goes on with another call, for a day. Its name is random, so nobody can make one up. */
export function keepProgress({ database, keys: TableName }: Tables) {
  return async (name: string, state: string, nowMs: number): Promise<void> => {
    const expiresAt = Math.ceil((nowMs + DAY_MS) / 1000)
    await database.put({ TableName, Item: { ...progressItem(name), state, expiresAt } })
  }
}

export function readProgress({ database, keys }: Tables) {
  return itemReader(database, keys, progressItem, ({ state }) => state as string)
}
