import { isDeepStrictEqual } from 'node:util'
import type { Act } from './act.ts'
import type { AdminKey } from './admin-key.ts'
import type { Key } from './key.ts'
import { KEY_SETTINGS, SETTINGS } from './key-settings.ts'
import { formatCredits } from './money.ts'
import { isoTime } from './time.ts'

export type EventKind =
  | 'key.create'
  | 'key.update'
  | 'key.rotate'
  | 'key.end_grace'
  | 'key.revoke'
  | 'key.grant'
  | 'admin_key.create'
  | 'admin_key.rotate'
  | 'admin_key.revoke'
  | 'catalog.push'
  | 'catalog.rollback'

/** Text and numbers as people read them. */
type Fields = Readonly<Record<string, unknown>>

/** The record of a change: its author, time and content. It is written with the change, and never again. */
export type ChangeEvent = Omit<Act, 'leftMs'> & {
  readonly what: EventKind
  /** The id of the key or the admin key; none for a change of the catalog. */
  readonly keyId?: string | undefined
  /** The fields that changed, before and after. Fields that stayed are in neither. */
  readonly before: Fields
  readonly after: Fields
}

export function changeEvent(
  { id, by, atMs }: Act,
  what: EventKind,
  { keyId, before = {}, after = {} }: { keyId?: string; before?: Fields; after?: Fields },
): ChangeEvent {
  return { id, by, atMs, what, ...(keyId !== undefined && { keyId }), ...differences(before, after) }
}

/** The fields of a key that operators change: no hash, and nothing that requests change. */
export function keyFields(key: Key): Fields {
  const { status, current, previous } = key
  return defined({
    ...settingFields(key),
    status,
    lastFour: current.lastFour,
    previousLastFour: previous?.lastFour,
    previousUntil: timeOf(previous?.untilMs),
  })
}

function settingFields(key: Key): Fields {
  const fields = SETTINGS.flatMap((setting) => {
    const [value, { inEvents }] = [key[setting], KEY_SETTINGS[setting]]
    return value === undefined ? [] : Object.entries(inEvents?.(value as never) ?? { [setting]: value })
  })
  return Object.fromEntries(fields)
}

/** The fields of an admin key for events, without its hashes. */
export function adminKeyFields({ name, status, current, previous, scopes, allowlist, dailyGrant }: AdminKey): Fields {
  return defined({
    name,
    status,
    lastFour: current.lastFour,
    previousLastFour: previous?.lastFour,
    previousUntil: timeOf(previous?.untilMs),
    scopes,
    allowlist,
    dailyGrant: formatCredits(dailyGrant),
  })
}

function timeOf(ms: number | undefined): string | undefined {
  return ms === undefined ? undefined : isoTime(ms)
}

function differences(before: Fields, after: Fields): { readonly before: Fields; readonly after: Fields } {
  const differs = ([name]: [string, unknown]) => !isDeepStrictEqual(before[name], after[name])
  const only = (fields: Fields) => Object.fromEntries(Object.entries(fields).filter(differs))
  return { before: only(before), after: only(after) }
}

function defined(fields: Fields): Fields {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined))
}
