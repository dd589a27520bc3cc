import { ITEMS } from '../../contract.ts'
import { type CounterName, type Counts, noCounts } from '../../domain/counters.ts'
import type { Hold, Key } from '../../domain/key.ts'
import { type KeySettings, SETTINGS } from '../../domain/key-settings.ts'
import { isoTime } from '../../domain/time.ts'
import type { Item } from '../database.ts'
import { currentSecret, previousSecret, secretAttributes } from './secret-attributes.ts'
import { endOf, readStoredHold } from './stored-hold.ts'

export const keyItem = (keyId: string) => ({ pk: `${ITEMS.key}${keyId}`, sk: 'KEY' })
export const keyIdOf = (item: Record<string, unknown>) => (item.pk as string).slice(ITEMS.key.length)
export const hashItem = (hash: string) => ({ pk: `${ITEMS.hash}${hash}`, sk: 'HASH' })
export const externalItem = (externalId: string) => ({ pk: `${ITEMS.external}${externalId}`, sk: 'EXTERNAL' })
export const grantItem = (keyId: string, grantId: string) => ({
  pk: `${ITEMS.key}${keyId}`,
  sk: `${ITEMS.grant}${grantId}`,
})

/** Only the names of these attributes have a colon. */
export const countAttribute = (name: CounterName, window: string) => `${name}:${window}`

/** The time by which a sweep must look at a key: one of its requests may then be dead. */
export const sweepTime = isoTime

export function toItem(key: Key): Item {
  return {
    ...keyItem(key.id),
    id: key.id,
    status: key.status,
    prefix: key.prefix,
    ...secretAttributes(key),
    previousUsedAtMs: key.previous?.usedAtMs,
    lastUsedAtMs: key.lastUsedAtMs,
    createdAt: isoTime(key.createdAtMs),
    version: key.version,
    bucketFullAtUs: key.bucketFullAtUs,
    granted: key.granted,
    available: key.available,
    spent: key.spent,
    ...settingsOf(key),
  }
}

export function toKey(item: Item): Key {
  const previous = previousSecret(item)
  return {
    id: item.id as string,
    status: item.status as Key['status'],
    prefix: item.prefix as string,
    current: currentSecret(item),
    ...(previous && {
      previous: {
        ...previous,
        ...(item.previousUsedAtMs !== undefined && { usedAtMs: item.previousUsedAtMs as number }),
      },
    }),
    ...(item.lastUsedAtMs !== undefined && { lastUsedAtMs: item.lastUsedAtMs as number }),
    createdAtMs: Date.parse(item.createdAt as string),
    version: item.version as number,
    bucketFullAtUs: item.bucketFullAtUs as number,
    counts: countsOf(item),
    granted: toNano(item.granted),
    available: toNano(item.available),
    spent: toNano(item.spent),
    holds: holdsOf(item),
    ...settingsOf(item),
  }
}

function settingsOf(keyOrItem: Key | Item): KeySettings {
  const settings: Record<string, unknown> = {}
  for (const name of SETTINGS) if (keyOrItem[name] !== undefined) settings[name] = keyOrItem[name]
  return settings as KeySettings
}

/** DynamoDB's numbers are exact; beyond 2^53 they come as bigint already. */
export function toNano(value: unknown): bigint {
  return BigInt(value as number | bigint)
}

function countsOf(item: Item): Counts {
  const counts = noCounts()
  for (const attribute in item) {
    const at = attribute.indexOf(':')
    if (at < 0) continue
    // After a rollback the item can have a counter that this version does not know.
    const windows: Record<string, bigint> | undefined = counts[attribute.slice(0, at) as CounterName]
    if (windows) windows[attribute.slice(at + 1)] = toNano(item[attribute])
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
