import { isDeepStrictEqual } from 'node:util'
import type { Act } from './act.ts'
import type { AdminKey } from './admin-key.ts'
import type { Key, RotatingKey } from './key.ts'
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

/** In plain words and numbers, as people read them. */
type Fields = Readonly<Record<string, unknown>>

/** Who changed what, and when. It is written with the change, and never again. */
export type ChangeEvent = Omit<Act, 'leftMs'> & {
  readonly what: EventKind
  /** Of the key or the admin key; none for a change of the catalog. */
  readonly keyId?: string | undefined
  /** What changed, as it was and as it is; neither has a field that stayed. */
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

/** What an operator changes of a key. No hash is in it, and nothing that requests change. */
export function keyFields(key: Key): Fields {
  return defined({ ...settingFields(key), ...secretFields(key) })
}

function secretFields({ status, current, previous }: RotatingKey): Fields {
  return {
    status,
    lastFour: current.lastFour,
    previousLastFour: previous?.lastFour,
    previousUntil: previous && isoTime(previous.untilMs),
  }
}

function settingFields(key: Key): Fields {
  const fields = SETTINGS.flatMap((setting) => {
    const [value, { inEvents }] = [key[setting], KEY_SETTINGS[setting]]
    return value === undefined ? [] : Object.entries(inEvents?.(value as never) ?? { [setting]: value })
  })
  return Object.fromEntries(fields)
}

/** No hash is in it. */
export function adminKeyFields(key: AdminKey): Fields {
  const { name, scopes, allowlist, dailyGrant } = key
  return defined({ name, ...secretFields(key), scopes, allowlist, dailyGrant: formatCredits(dailyGrant) })
}

function differences(before: Fields, after: Fields): { readonly before: Fields; readonly after: Fields } {
  const differs = ([name]: [string, unknown]) => !isDeepStrictEqual(before[name], after[name])
  const only = (fields: Fields) => Object.fromEntries(Object.entries(fields).filter(differs))
  return { before: only(before), after: only(after) }
}

function defined(fields: Fields): Fields {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined))
}
