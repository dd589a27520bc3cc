import { DAY_MS, isoTime } from '../../domain/basics/time.ts'
import type { Act } from '../../domain/keys/act.ts'
import { changeEvent } from '../../domain/keys/change-event.ts'
import type { Key, Versioned } from '../../domain/keys/key.ts'
import { REFERENCE_DAYS, type Reference } from '../../domain/keys/reference.ts'
import { referenceDigest } from '../../domain/keys/reference-digest.ts'
import { formatCredits, type Nano } from '../../domain/money/money.ts'
import { ITEMS } from '../../names.ts'
import { type Allowance, requireAllowance, takeAllowance } from '../admin-keys/allowance.ts'
import { type Item, itemReader, queryItems, type Tables, type TransactItem } from '../dynamodb/database.ts'
import { putNew } from '../dynamodb/transact.ts'
import { makeOnce, putEvent } from '../events/events.ts'
import { againAfterOthers, type ChangeResult, type Kind, VersionConflict } from './change-key.ts'
import { grantItem, SWEEP_AT_ONCE, toNano } from './key-item.ts'
import { readOne } from './rotating-item.ts'

/** A key, or an account: something with a balance. */
type Owner = Versioned & Pick<Key, 'granted' | 'available'> & Partial<Pick<Key, 'purse'>>

export type GrantResult<K = Key> =
  | ChangeResult<K>
  | { readonly changed: false; readonly why: 'reference_used'; readonly earlier: GrantRecord | undefined }
  | { readonly changed: false; readonly why: 'not_available'; readonly key: K }
  /** The balance of a key that joined an account is the account's. */
  | { readonly changed: false; readonly why: 'has_account'; readonly accountId: string }

/** The reason of a refusal that is gone when it is looked for is not gone every time. */
const TRIES = 10

/**
 * Credits are added to the current balance, so a busy key needs no version check; a suspended one gets them, a revoked
 * one does not. Credits below zero correct an earlier grant, by no more than is available. With an allowance the amount
 * is taken from it in the same transaction, a correction's too, or an OverAllowance is thrown.
 */
export function grantTo<K extends Owner>(tables: Tables, kind: Kind<K>, what: 'key.grant' | 'account.grant') {
  const read = readOne(tables, kind)
  return (keyId: string, credits: Nano, act: Act, allowance?: Allowance, reference?: Reference) => {
    const moved = credits < 0n ? -credits : credits
    return againAfterOthers(act, make, TRIES)

    async function make(): Promise<GrantResult<K>> {
      const granted = await makeOnce(tables, keyId, act, [
        changeBalance(tables, kind, keyId, credits),
        putNew(tables.keys, grantEntry(keyId, credits, act, reference)),
        ...(reference ? [takeReference(tables, keyId, reference, act)] : []),
        ...putEvent(tables, changeEvent(act, what, { keyId, after: grantFields(credits, reference) })),
        ...(allowance ? takeAllowance(tables, allowance, moved) : []),
      ])
      const key = await read(keyId)
      if (!key) return { changed: false, why: 'no_such_key' }
      return granted ? { changed: true, key } : whyNot(key)
    }

    async function whyNot(key: K): Promise<GrantResult<K>> {
      if (key.status === 'revoked') return { changed: false, why: 'revoked' }
      if (key.purse) return { changed: false, why: 'has_account', accountId: key.purse.accountId }
      const repeated = reference && (await findRepeated(tables)(keyId, reference, act))
      // The same act, made by whoever asked for it at the same moment.
      if (repeated?.grantId === act.id) return { changed: true, key }
      if (repeated) {
        return { changed: false, why: 'reference_used', earlier: await readGrant(tables)(keyId, repeated.grantId) }
      }
      if (key.available + credits < 0n) return { changed: false, why: 'not_available', key }
      if (allowance) await requireAllowance(tables, allowance, moved)
      // The reason is gone by now: a request has given credits back, for example.
      throw new VersionConflict(
        `Others changed the ${kind.name} ${keyId} at the same moment, again and again. Try again.`,
      )
    }
  }
}

function changeBalance<K extends Owner>({ keys }: Tables, kind: Kind<K>, id: string, credits: Nano): TransactItem {
  const isKeyTopUp = credits > 0n && kind.eventPrefix === 'key'
  return {
    Update: {
      TableName: keys,
      Key: kind.itemOf(id),
      ConditionExpression: `#status IN (:active, :suspended) AND attribute_not_exists(accountId)${credits < 0n ? ' AND available >= :taken' : ''}`,
      // A top-up arms the notice of a low balance again. After a correction, and whatever befalls an account, a sweep looks.
      UpdateExpression: `SET granted = granted + :credits, available = available + :credits, ${isKeyTopUp ? 'spentAtGrant = spent' : 'sweepAt = :atOnce'}`,
      ExpressionAttributeNames: { '#status': 'status' },
      ExpressionAttributeValues: {
        ':active': 'active',
        ':suspended': 'suspended',
        ':credits': credits,
        ...(credits < 0n && { ':taken': -credits }),
        ...(!isKeyTopUp && { ':atOnce': SWEEP_AT_ONCE }),
      },
    },
  }
}

export function grantFields(credits: Nano, reference: Reference | undefined) {
  return { credits: formatCredits(credits), ...(reference && { reference: reference.text }) }
}

/** A grant has the id of the act that made it. */
export function grantEntry(keyId: string, credits: Nano, { id, by, triedAtMs }: Act, reference?: Reference) {
  return {
    ...grantItem(keyId, id),
    credits,
    grantedAt: isoTime(triedAtMs),
    by,
    ...(reference && { reference: reference.text }),
  }
}

export type GrantRecord = ReturnType<typeof toGrant>

/** The grants to a key from this id on, oldest first. */
export function listGrants({ database, keys }: Tables) {
  return (keyId: string, firstId = '') => {
    const { pk, sk: first } = grantItem(keyId, firstId)
    const input = {
      TableName: keys,
      KeyConditionExpression: 'pk = :pk AND sk BETWEEN :first AND :last',
      ExpressionAttributeValues: { ':pk': pk, ':first': first, ':last': grantItem(keyId, LAST_ID).sk },
      ConsistentRead: true,
    }
    return queryItems(database, input, toGrant)
  }
}

export function readGrant({ database, keys }: Tables) {
  return itemReader(database, keys, grantItem, toGrant)
}

function toGrant({ sk, credits, grantedAt, by, reference }: Item) {
  return {
    id: (sk as string).slice(grantItem('', '').sk.length),
    credits: toNano(credits),
    grantedAt: grantedAt as string,
    by: by as string,
    reference: reference as string | undefined,
  }
}

/** The last grant to a key under a reference. */
type Referenced = { readonly grantId: string; readonly atMs: number }

/** After the ids of all keys. */
const LAST_ID = '~'

const partitionOf = (text: string) => `${ITEMS.reference}${referenceDigest(text)}`
const referenceItem = (text: string, keyId: string) => ({ pk: partitionOf(text), sk: keyId })
const earliestMs = ({ atMs }: Act) => atMs - REFERENCE_DAYS * DAY_MS

/** Part of the transaction that grants: of concurrent grants to a key under one reference, all but one fail. */
export function takeReference({ keys }: Tables, keyId: string, { text, isAgain }: Reference, act: Act): TransactItem {
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
function findRepeated({ database, keys }: Tables) {
  return async (keyId: string, { text, isAgain }: Reference, act: Act): Promise<Referenced | undefined> => {
    if (isAgain) return undefined
    const { Item } = await database.get({ TableName: keys, Key: referenceItem(text, keyId), ConsistentRead: true })
    return Item && Number(Item.atMs) > earliestMs(act) ? (Item as Referenced) : undefined
  }
}

/** The ids of the keys that were ever granted credits under a reference, newest key first, read as far as the caller goes. */
export function keysWithReference({ database, keys }: Tables) {
  return (text: string, beforeId = LAST_ID) => {
    const input = {
      TableName: keys,
      KeyConditionExpression: 'pk = :pk AND sk < :beforeId',
      ExpressionAttributeValues: { ':pk': partitionOf(text), ':beforeId': beforeId },
      ConsistentRead: true,
      ScanIndexForward: false,
    }
    return queryItems(database, input, ({ sk }) => sk as string)
  }
}
