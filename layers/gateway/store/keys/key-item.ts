import {
  COUNTER_NAMES,
  COUNTERS,
  type Counter,
  type CounterName,
  type Counts,
  noCounts,
} from '../../domain/admission/counters.ts'
import { isoTime } from '../../domain/basics/time.ts'
import type { Hold, Key } from '../../domain/keys/key.ts'
import { KEY_SETTINGS, type KeySettings, SETTINGS } from '../../domain/keys/key-settings.ts'
import { ITEMS } from '../../names.ts'
import type { Item } from '../dynamodb/database.ts'
import { type KeyItems, rotatingAttributes, toRotatingKey } from './rotating-item.ts'
import { endOf, readStoredHold } from './stored-hold.ts'

const SORT_KEY = 'KEY'
export const keyItem = (keyId: string) => ({ pk: `${ITEMS.key}${keyId}`, sk: SORT_KEY })
export const keyIdOf = (item: Record<string, unknown>) => (item.pk as string).slice(ITEMS.key.length)
export const hashItem = (hash: string) => ({ pk: `${ITEMS.hash}${hash}`, sk: 'HASH' })
export const externalItem = (externalId: string) => ({ pk: `${ITEMS.external}${externalId}`, sk: 'EXTERNAL' })
export const grantItem = (keyId: string, grantId: string) => ({
  pk: `${ITEMS.key}${keyId}`,
  sk: `${ITEMS.grant}${grantId}`,
})

/** Only the names of these attributes have a colon. */
export const countAttribute = ({ stored }: Pick<Counter, 'stored'>, window: string) => `${stored}:${window}`
const COUNTED_AS: ReadonlyMap<string, CounterName> = new Map(COUNTER_NAMES.map((name) => [COUNTERS[name].stored, name]))

/** The time by which a sweep must look at a key: one of its requests may then be dead. */
export const sweepTime = isoTime
/** Before every time: the key's item has events that must be moved. */
export const SWEEP_AT_ONCE = '0'

export function toItem(key: Key): Item {
  return {
    ...keyItem(key.id),
    ...rotatingAttributes(key),
    prefix: key.prefix,
    lastUsedAtMs: key.lastUsedAtMs,
    bucketFullAtUs: key.bucketFullAtUs,
    granted: key.granted,
    available: key.available,
    spent: key.spent,
    ...settingsOf(key),
  }
}

export function toKey(item: Item): Key {
  return {
    ...toRotatingKey(item),
    prefix: item.prefix as string,
    ...(item.lastUsedAtMs !== undefined && { lastUsedAtMs: item.lastUsedAtMs as number }),
    bucketFullAtUs: item.bucketFullAtUs as number,
    counts: countsOf(item),
    granted: toNano(item.granted),
    available: toNano(item.available),
    spent: toNano(item.spent),
    holds: holdsOf(item),
    ...settingsOf(item),
  }
}

export const KEY_ITEMS: KeyItems<Key> = { itemOf: keyItem, secretItemOf: hashItem, sortKey: SORT_KEY, toKey }

function settingsOf(keyOrItem: Key | Item): KeySettings {
  const settings: Record<string, unknown> = {}
  for (const name of SETTINGS) {
    const value = keyOrItem[name]
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

/** With a time, only the holds that have ended by then. */
export function holdsOf({ openHolds }: Item, endedByMs = Number.POSITIVE_INFINITY) {
  const holds: Record<string, Hold> = {}
  for (const bytes of (openHolds as Set<Uint8Array> | undefined) ?? []) {
    if (endOf(bytes) > endedByMs) continue
    const { requestId, hold } = readStoredHold(bytes)
    holds[requestId] = hold
  }
  return holds
}
