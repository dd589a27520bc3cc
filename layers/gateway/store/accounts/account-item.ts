import { isoTime } from '../../domain/basics/time.ts'
import { ACCOUNT_SETTINGS, type Account, type AccountSettings, accountFields } from '../../domain/keys/account.ts'
import type { Nano } from '../../domain/money/money.ts'
import type { Item } from '../dynamodb/database.ts'
import type { Kind } from '../keys/change-key.ts'
import { accountItem, toNano } from '../keys/key-item.ts'

const [OUT, SEEN] = ['out:', 'seen:']
export const outMark = (address: string) => `${OUT}${address}`
export const seenMark = (address: string) => `${SEEN}${address}`

/** The item of a new account, which has no marks yet. */
export function toAccountItem({ marks: _, dry: __, createdAtMs, ...account }: Account): Item {
  return { ...accountItem(account.id), ...account, createdAt: isoTime(createdAtMs), keyCount: 0 }
}

export function toAccount(item: Item): Account {
  return {
    id: item.id as string,
    status: item.status as Account['status'],
    createdAtMs: Date.parse(item.createdAt as string),
    version: item.version as number,
    statusVersion: item.statusVersion as number,
    granted: toNano(item.granted),
    available: toNano(item.available),
    drawn: toNano(item.drawn),
    retired: toNano(item.retired),
    marks: marksOf(item),
    ...(item.dry !== undefined && { dry: dryOf(item.dry as string) }),
    ...settingsOf(item),
  }
}

function settingsOf(item: Item): AccountSettings {
  const known = ACCOUNT_SETTINGS.flatMap((name) => {
    if (item[name] === undefined) return []
    return [[name, name === 'notifyBelow' ? toNano(item[name]) : item[name]]]
  })
  return Object.fromEntries(known)
}

function marksOf(item: Item): Account['marks'] {
  const marks: Record<string, { out: Nano; seen: Nano }> = {}
  for (const attribute in item) {
    if (!attribute.startsWith(OUT)) continue
    const address = attribute.slice(OUT.length)
    marks[address] = { out: toNano(item[attribute]), seen: toNano(item[seenMark(address)]) }
  }
  return marks
}

type Dry = NonNullable<Account['dry']>

/** A text, so that a write can depend on it. */
export const dryText = ({ atMs, granted, most }: Dry) => `${atMs}/${granted}/${most}`

function dryOf(text: string): Dry {
  const [atMs, granted, most] = text.split('/')
  return { atMs: Number(atMs), granted: toNano(granted), most: toNano(most) }
}

export const ACCOUNT: Kind<Account> = {
  itemOf: accountItem,
  sortKey: accountItem('').sk,
  toKey: toAccount,
  name: 'account',
  eventPrefix: 'account',
  fieldsOf: accountFields,
}
