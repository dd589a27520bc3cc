import { isDeepStrictEqual } from 'node:util'
import type { JsonObject } from '../basics/json-object.ts'
import { isoTime } from '../basics/time.ts'
import { formatCredits } from '../money/money.ts'
import type { Act } from './act.ts'
import type { AdminKey } from './admin-key.ts'
import type { EventKind } from './event-names.ts'
import { accountIdOf, type Key, type RotatingKey } from './key.ts'
import { KEY_SETTINGS, SETTINGS } from './key-settings.ts'

/** The changes that must win over any number of requests. Their events are kept on the item of their key at first. */
export const URGENT_EVENTS = [
  'key.plan',
  'key.end_grace',
  'key.suspend',
  'key.resume',
  'key.revoke',
  'admin_key.revoke',
] as const satisfies readonly EventKind[]
export type UrgentEvent = (typeof URGENT_EVENTS)[number]

/** The record of a change: its author, time and content. It is written with the change, and never again. */
export type ChangeEvent = Omit<Act, 'leftMs' | 'triedAtMs'> & {
  readonly what: EventKind
  readonly keyId?: string | undefined
  /** The fields that changed. Those that stayed are in neither. */
  readonly before: JsonObject
  readonly after: JsonObject
}

export function changeEvent(
  { id, by, atMs }: Act,
  what: EventKind,
  { keyId, before = {}, after = {} }: { keyId?: string; before?: JsonObject; after?: JsonObject },
): ChangeEvent {
  return { id, by, atMs, what, ...(keyId !== undefined && { keyId }), ...differences(before, after) }
}

export function isEmpty({ before, after }: ChangeEvent): boolean {
  return Object.keys(before).length + Object.keys(after).length === 0
}

/** The fields of a key that operators change: no hash, and nothing that requests change. */
export function keyFields(key: Key): JsonObject {
  const { plan: accountPlan, isWithAccount } = key.purse ?? {}
  const joined = { accountId: accountIdOf(key), accountPlan, withAccount: isWithAccount || undefined }
  return defined({ ...settingFields(key), ...secretFields(key), ...joined })
}

function secretFields({ status, current, previous }: RotatingKey): JsonObject {
  return {
    status,
    lastFour: current.lastFour,
    previousLastFour: previous?.lastFour,
    previousUntil: previous && isoTime(previous.untilMs),
  }
}

function settingFields(key: Key): JsonObject {
  const fields = SETTINGS.flatMap((setting) => {
    const [value, { inEvents }] = [key[setting], KEY_SETTINGS[setting]]
    if (value === undefined) return []
    const shown = typeof value === 'bigint' ? formatCredits(value) : value
    return Object.entries(inEvents?.(value as never) ?? { [setting]: shown })
  })
  return Object.fromEntries(fields)
}

export function adminKeyFields(key: AdminKey): JsonObject {
  const { name, scopes, allowlist, dailyGrant } = key
  return defined({ name, ...secretFields(key), scopes, allowlist, dailyGrant: formatCredits(dailyGrant) })
}

function differences(before: JsonObject, after: JsonObject): Pick<ChangeEvent, 'before' | 'after'> {
  const differs = ([name]: [string, unknown]) => !isDeepStrictEqual(before[name], after[name])
  const only = (fields: JsonObject) => Object.fromEntries(Object.entries(fields).filter(differs))
  return { before: only(before), after: only(after) }
}

function defined(fields: JsonObject): JsonObject {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined))
}
