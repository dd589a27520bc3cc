import { DAY_MS } from '../../domain/basics/time.ts'
import type { Act } from '../../domain/keys/act.ts'
import { REFERENCE_DAYS, type Reference } from '../../domain/keys/reference.ts'
import { referenceDigest } from '../../domain/keys/reference-digest.ts'
import { ITEMS } from '../../names.ts'
import { queryItems } from '../dynamodb/database.ts'
import type { Tables } from '../dynamodb/tables.ts'
import type { OperatorTables } from '../sdk/operator-tables.ts'
import type { TransactItem } from '../sdk/transact.ts'

/** The last grant to a key under a reference. */
type Referenced = { readonly grantId: string; readonly atMs: number }

/** After the ids of all keys. */
const LAST_ID = '~'

const partitionOf = (text: string) => `${ITEMS.reference}${referenceDigest(text)}`
const referenceItem = (text: string, keyId: string) => ({ pk: partitionOf(text), sk: keyId })
const earliestMs = ({ atMs }: Act) => atMs - REFERENCE_DAYS * DAY_MS

/** For the transaction that grants: of concurrent grants to a key under one reference, all but one fail. */
export function takeReference(
  { keys }: OperatorTables,
  keyId: string,
  { text, isAgain }: Reference,
  act: Act,
): TransactItem {
  return {
    Put: {
      TableName: keys,
      Item: { ...referenceItem(text, keyId), grantId: act.id, atMs: act.atMs },
      ...(!isAgain && {
        ConditionExpression: 'attribute_not_exists(pk) OR atMs <= :earliestMs',
        ExpressionAttributeValues: { ':earliestMs': earliestMs(act) },
      }),
    },
  }
}

/** The earlier grant because of which this one is taken for a mistake. */
export function findRepeated({ database, keys }: Tables) {
  return async (keyId: string, { text, isAgain }: Reference, act: Act): Promise<Referenced | undefined> => {
    if (isAgain) return undefined
    const { Item } = await database.get({ TableName: keys, Key: referenceItem(text, keyId), ConsistentRead: true })
    return Item && Number(Item.atMs) > earliestMs(act) ? (Item as Referenced) : undefined
  }
}

/** The ids of the keys that were ever granted credits under a reference, newest key first, read as far as the caller goes. */
export function keysWithReference({ database, keys }: Tables) {
  return async function* keyIds(text: string, beforeId = LAST_ID): AsyncGenerator<string, void, undefined> {
    const items = queryItems(database, {
      TableName: keys,
      KeyConditionExpression: 'pk = :pk AND sk < :beforeId',
      ExpressionAttributeValues: { ':pk': partitionOf(text), ':beforeId': beforeId },
      ConsistentRead: true,
      ScanIndexForward: false,
    })
    for await (const { sk } of items) yield sk as string
  }
}
