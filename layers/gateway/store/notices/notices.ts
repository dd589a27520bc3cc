import type { AdmissionRefusal } from '../../domain/basics/gateway-error.ts'
import { ULID } from '../../domain/basics/time.ts'
import type { Key } from '../../domain/keys/key.ts'
import {
  type CreditRefusal,
  type DueNotice,
  isCreditRefusal,
  NOTICE_KINDS,
  type Notice,
  type NoticeKind,
  type Watched,
} from '../../domain/keys/notice.ts'
import { updateIf } from '../dynamodb/conditional-writes.ts'
import { type Item, itemReader, type Tables } from '../dynamodb/database.ts'
import { accountItem, keyItem, ownerItem, SWEEP_AT_ONCE, toKey, toNano } from '../keys/key-item.ts'

const CREDIT_REFUSAL_PREFIX = 'refused.'
const TOLD_PREFIX = 'told.'

export const creditRefusalAttribute = (refusal: CreditRefusal) => `${CREDIT_REFUSAL_PREFIX}${refusal}`
export const toldAttribute = (what: NoticeKind) => `${TOLD_PREFIX}${what}`

/** A notice that its key's item keeps until it is told. Its bytes are its name in the set. */
export type KeptNotice = Notice & { readonly bytes: Uint8Array }

export type WatchedOwner = Watched & {
  readonly kept: readonly KeptNotice[]
  readonly unreadable: readonly Uint8Array[]
}

/** A set, as that of the holds: any number may add to it and take from it at once. */
export function noticeSet({ id, what, facts }: Notice): Set<Uint8Array> {
  return new Set([Buffer.from(JSON.stringify([id, what, facts]))])
}

export function readWatched({ database, keys }: Tables) {
  return itemReader(database, keys, keyItem, (item) => ({ key: toKey(item), ...noticesOn(item) }))
}

/** An account's item, with what is kept of its notices. */
export function readNoticesOn({ database, keys }: Tables) {
  return itemReader(database, keys, accountItem, (item) => ({ item, noticed: noticesOn(item) }))
}

function noticesOn(item: Item): Omit<WatchedOwner, 'key'> {
  const creditRefusal: Partial<Record<CreditRefusal, string>> = {}
  const told: Partial<Record<NoticeKind, string>> = {}
  for (const [name, value] of Object.entries(item)) {
    const refusal = name.slice(CREDIT_REFUSAL_PREFIX.length) as AdmissionRefusal
    if (name.startsWith(CREDIT_REFUSAL_PREFIX) && isCreditRefusal(refusal)) creditRefusal[refusal] = String(value)
    if (name.startsWith(TOLD_PREFIX)) told[name.slice(TOLD_PREFIX.length) as NoticeKind] = String(value)
  }
  const all = [...((item.notices as Set<Uint8Array> | undefined) ?? [])]
  const kept = all.flatMap((bytes) => readNotice(bytes) ?? [])
  const readable = new Set(kept.map(({ bytes }) => bytes))
  return {
    spentAtGrant: toNano(item.spentAtGrant ?? 0),
    creditRefusal,
    told,
    kept,
    unreadable: all.filter((bytes) => !readable.has(bytes)),
  }
}

/** Functions that admit requests may write the item, so no more is believed than has the form of a notice. */
function readNotice(bytes: Uint8Array): KeptNotice | undefined {
  try {
    const [id, what, facts] = JSON.parse(Buffer.from(bytes).toString()) as [string, NoticeKind, Record<string, string>]
    const isOne =
      ULID.test(id) && NOTICE_KINDS.includes(what) && Object.values(facts).every((fact) => typeof fact === 'string')
    return isOne ? { id, what, facts, bytes } : undefined
  } catch {
    return undefined
  }
}

/**
 * Keeps a notice on its key's item and notes that it is told, in one write; false if another was told since the key was
 * read. From then on it is told under this id, whatever crashes.
 */
export function keepNotice(tables: Tables) {
  return ({ key, told }: Watched, { what, mark, facts }: DueNotice, id: string): Promise<boolean> => {
    const before = told[what]
    return updateIf(tables, ownerItem(key.id), {
      ConditionExpression:
        before === undefined ? 'attribute_exists(pk) AND attribute_not_exists(#told)' : '#told = :before',
      UpdateExpression: 'SET #told = :mark, sweepAt = :atOnce ADD notices :notices',
      ExpressionAttributeNames: { '#told': toldAttribute(what) },
      ExpressionAttributeValues: {
        ':mark': mark,
        ':atOnce': SWEEP_AT_ONCE,
        ':notices': noticeSet({ id, what, facts }),
        ...(before !== undefined && { ':before': before }),
      },
    })
  }
}

/** Refusals of credits by a lane are told with its key, once for all lanes. */
export function tellFirstLane(tables: Tables) {
  return async ({ id, address }: Key, { creditRefusal }: Pick<Watched, 'creditRefusal'>): Promise<void> => {
    for (const [refusal, mark] of Object.entries(creditRefusal)) {
      const names = { ExpressionAttributeNames: { '#refused': creditRefusalAttribute(refusal as CreditRefusal) } }
      await updateIf(tables, keyItem(id), {
        ConditionExpression: 'attribute_exists(pk)',
        UpdateExpression: 'SET #refused = :mark, sweepAt = :atOnce',
        ...names,
        ExpressionAttributeValues: { ':mark': mark, ':atOnce': SWEEP_AT_ONCE },
      })
      await updateIf(tables, keyItem(address), {
        ConditionExpression: '#refused = :mark',
        UpdateExpression: 'REMOVE #refused',
        ...names,
        ExpressionAttributeValues: { ':mark': mark },
      })
    }
  }
}

export function forgetNotices(tables: Tables) {
  return async (keyId: string, told: readonly Uint8Array[]): Promise<void> => {
    if (told.length === 0) return
    await updateIf(tables, ownerItem(keyId), {
      ConditionExpression: 'attribute_exists(pk)',
      UpdateExpression: 'DELETE notices :told',
      ExpressionAttributeValues: { ':told': new Set(told) },
    })
  }
}
