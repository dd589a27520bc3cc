import { COUNTER_NAMES, COUNTERS, type CounterName, type Counts, noCounts } from '../../domain/admission/counters.ts'
import { isoTime, readUlid, requestIdOf, timeMsIn, writeUlid } from '../../domain/basics/time.ts'
import { type Hold, isAccountId, type Key, type Purse } from '../../domain/keys/key.ts'
import { KEY_SETTINGS, type KeySettings, SETTINGS } from '../../domain/keys/key-settings.ts'
import { type Lane, laneIn } from '../../domain/keys/lane.ts'
import type { Nano } from '../../domain/money/money.ts'
import { ITEMS } from '../../names.ts'
import type { Item } from '../dynamodb/database.ts'
import { type KeyItems, rotatingAttributes, toRotatingKey } from './rotating-item.ts'

const SORT_KEY = 'KEY'
export const LANE_SORT_KEY = 'LANE'
/** The address of a key's books is the key's id, or that of a lane. A list of keys has only their first lanes. */
export const keyItem = (address: string) => ({
  pk: `${ITEMS.key}${address}`,
  sk: laneIn(address) === 0 ? SORT_KEY : LANE_SORT_KEY,
})
/** An account's items stand as those of a key do, under its id: its grants, and its events. */
export const accountItem = (id: string) => ({ pk: `${ITEMS.key}${id}`, sk: 'ACCOUNT' })
export const ownerItem = (id: string) => (isAccountId(id) ? accountItem(id) : keyItem(id))
export const keyIdOf = (item: Record<string, unknown>) => (item.pk as string).slice(ITEMS.key.length)
export const hashItem = (hash: string) => ({ pk: `${ITEMS.hash}${hash}`, sk: 'HASH' })
export const externalItem = (externalId: string) => ({ pk: `${ITEMS.external}${externalId}`, sk: 'EXTERNAL' })
export const grantItem = (keyId: string, grantId: string) => ({
  pk: `${ITEMS.key}${keyId}`,
  sk: `${ITEMS.grant}${grantId}`,
})

const COUNTED_AS: ReadonlyMap<string, CounterName> = new Map(COUNTER_NAMES.map((name) => [COUNTERS[name].stored, name]))

/** The time by which a sweep must look at a key: one of its requests may then be dead. */
export const sweepTime = isoTime
/** Before every time: the key's item has events that must be moved. */
export const SWEEP_AT_ONCE = '0'

export function toItem(key: Key): Item {
  const { purse, lane } = key
  const { drawn, heldEver, spentAtDraw } = purse ?? {}
  return {
    ...keyItem(key.address),
    ...termsItem(key),
    lastUsedAtMs: key.lastUsedAtMs,
    bucketFullAtUs: key.bucketFullAtUs,
    granted: key.granted,
    available: key.available,
    spent: key.spent,
    drawn,
    heldEver,
    spentAtDraw,
    ...(lane && laneItem(lane)),
  }
}

/** The part that operators change, which all lanes of a key have alike. */
export function termsItem(key: Key): Item {
  const { prefix, purse } = key
  const { accountId, adoptedAtMs, statusVersion, isWithAccount, plan: acPlan } = purse ?? {}
  const settings = Object.fromEntries(SETTINGS.map((name) => [name, key[name]]))
  // A key has one lane unless somebody wants more.
  if (!key.lane) settings.lanes = undefined
  const ofAccount = { accountId, adoptedAtMs, statusVersion, isWithAccount, acPlan }
  return { ...rotatingAttributes(key), prefix, ...ofAccount, ...settings }
}

export function laneItem({ made, deal, isClosed, dealt, dealing }: Lane): Item {
  return { lanesMade: made, deal, isClosed: isClosed || undefined, dealt, dealing }
}

export function toKey(item: Item): Key {
  return {
    ...toRotatingKey(item),
    address: keyIdOf(item),
    prefix: item.prefix as string,
    ...(item.lastUsedAtMs !== undefined && { lastUsedAtMs: item.lastUsedAtMs as number }),
    bucketFullAtUs: item.bucketFullAtUs as number,
    counts: countsOf(item),
    granted: toNano(item.granted),
    available: toNano(item.available),
    spent: toNano(item.spent),
    holds: holdsOf(item),
    ...(item.accountId !== undefined && { purse: purseOf(item) }),
    ...(item.deal !== undefined && { lane: laneOf(item) }),
    ...settingsOf(item),
  }
}

function purseOf(item: Item): Purse {
  const { accountId, adoptedAtMs, drawn, heldEver, spentAtDraw, statusVersion, isWithAccount, acPlan } = item
  return {
    accountId: accountId as string,
    drawn: toNano(drawn),
    heldEver: toNano(heldEver),
    spentAtDraw: toNano(spentAtDraw),
    statusVersion: statusVersion as number,
    ...(adoptedAtMs !== undefined && { adoptedAtMs: adoptedAtMs as number }),
    ...(acPlan !== undefined && { plan: acPlan as string }),
    ...(isWithAccount !== undefined && { isWithAccount: isWithAccount as boolean }),
  }
}

function laneOf({ pk, lanesMade: made, deal, isClosed, dealt, dealing }: Item): Lane {
  const parts = Object.entries(dealt as Item).map(([name, part]) => [name, toNano(part)])
  return {
    index: laneIn(pk as string),
    deal: deal as number,
    isClosed: isClosed !== undefined,
    dealt: Object.fromEntries(parts),
    ...(made !== undefined && { made: made as number }),
    ...(dealing !== undefined && { dealing: dealing as string }),
  }
}

export const KEY_ITEMS: KeyItems<Key> = { itemOf: keyItem, secretItemOf: hashItem, sortKey: SORT_KEY, toKey }

function settingsOf(item: Item): KeySettings {
  const settings: Record<string, unknown> = { lanes: KEY_SETTINGS.lanes.default }
  for (const name of SETTINGS) {
    const value = item[name]
    if (value !== undefined) settings[name] = KEY_SETTINGS[name].isNano ? toNano(value) : value
  }
  return settings as KeySettings
}

/** DynamoDB's numbers are exact; beyond 2^53 they come as bigint already. */
export function toNano(value: unknown): bigint {
  return BigInt(value as number | bigint | string)
}

function countsOf(item: Item): Counts {
  const counts = noCounts()
  for (const attribute in item) {
    const at = attribute.indexOf(':')
    if (at < 0) continue
    // After a rollback the item can have a counter that this version does not know.
    const name = COUNTED_AS.get(attribute.slice(0, at))
    if (name) counts[name][attribute.slice(at + 1)] = toNano(item[attribute])
  }
  return counts
}

/** Only the holds that have ended by a time, if one is given. */
export function holdsOf({ openHolds }: Item, endedByMs = Number.POSITIVE_INFINITY) {
  const holds: Record<string, Hold> = {}
  for (const bytes of (openHolds as Set<Uint8Array> | undefined) ?? []) {
    if (endOf(bytes) > endedByMs) continue
    const { requestId, hold } = readStoredHold(bytes)
    holds[requestId] = hold
  }
  return holds
}

// A key's item is written whole with every request, so each of its open holds takes some 20 bytes: the 16 of the
// request's id, one for the longest life of the request, counted from the time in its id, and the amount.

const ID_BYTES = 16
const LIFETIME_UNIT_MS = 8_000
const LONGEST_LIFETIME = 255
const [ZERO, LETTER_A] = [48, 97]

/** One element of the set of open holds. The same hold is always the same bytes, so that it can be found and removed. */
export function storedHold(requestId: string, { amount, untilMs }: Hold): Uint8Array {
  const id = readUlid(requestId)
  const units = Math.ceil((untilMs - timeMsIn(id)) / LIFETIME_UNIT_MS)
  const digits = amount === 0n ? '' : amount.toString(16)
  const amountBytes = (digits.length + 1) >> 1
  const stored = new Uint8Array(ID_BYTES + 1 + amountBytes)
  stored.set(id)
  stored[ID_BYTES] = Math.min(LONGEST_LIFETIME, Math.max(0, units))
  // The amount in as few bytes as it takes, none for zero.
  for (let i = 1, at = digits.length; i <= amountBytes; i++, at -= 2) {
    stored[stored.length - i] = hexDigit(digits, at - 2) * 16 + hexDigit(digits, at - 1)
  }
  return stored
}

function hexDigit(digits: string, at: number): number {
  if (at < 0) return 0
  const code = digits.charCodeAt(at)
  return code < LETTER_A ? code - ZERO : code - LETTER_A + 10
}

export function readStoredHold(bytes: Uint8Array): { readonly requestId: string; readonly hold: Hold } {
  const amount = amountIn(bytes.subarray(ID_BYTES + 1))
  return { requestId: requestIdOf(writeUlid(bytes)), hold: { amount, untilMs: endOf(bytes) } }
}

export function endOf(bytes: Uint8Array): number {
  return timeMsIn(bytes) + (bytes[ID_BYTES] as number) * LIFETIME_UNIT_MS
}

function amountIn(bytes: Uint8Array): Nano {
  let amount = 0n
  for (const byte of bytes) amount = (amount << 8n) | BigInt(byte)
  return amount
}
