import { isoTime } from '../../gateway/domain/basics/time.ts'
import type { AccountChanges, AccountSettings } from '../../gateway/domain/keys/account.ts'
import type { KeySettings, SettingChanges } from '../../gateway/domain/keys/key-settings.ts'
import { formatCredits } from '../../gateway/domain/money/money.ts'
import { AdminError } from '../api/admin-error.ts'
import { wrong } from '../api/fields.ts'
import type { ToldAccountSettings } from '../api/shapes/accounts.ts'
import type { ToldSettings } from '../api/shapes/keys.ts'
import type { ReadAccountSettings } from './account-fields.ts'
import { ACCOUNT_WORDS } from './account-words.ts'
import type { ReadSettings } from './setting-fields.ts'
import { SETTING_WORDS } from './setting-words.ts'

/** The settings that a body gives; null removes a setting. */
export function settingsIn(fields: ReadSettings, nowMs: number): SettingChanges {
  const { expires_at: endMs } = fields
  // A new key cannot have expired already.
  if (typeof endMs === 'number' && endMs <= nowMs) {
    throw wrong('expires_at', `must be later than now, but ${isoTime(endMs)} is not.`)
  }
  return namedBy(SETTING_WORDS, fields)
}

export function accountSettingsIn(fields: ReadAccountSettings): AccountChanges {
  const changes = namedBy(ACCOUNT_WORDS, fields)
  if (Object.keys(changes).length === 0) throw new AdminError('invalid_request', 'The body says nothing to change.')
  return changes
}

type Named<Name extends string> = Readonly<Record<Name, { readonly field: string; readonly kind: string }>>

/** The values that are given, by the names that the gateway has for them. */
function namedBy<Name extends string>(words: Named<Name>, fields: Readonly<Record<string, unknown>>) {
  const given = namesIn(words).map((name) => [name, fields[words[name].field]])
  return Object.fromEntries(given.filter(([, value]) => value !== undefined))
}

const namesIn = <Name extends string>(words: Named<Name>) => Object.keys(words) as Name[]

/** What is new has no settings to remove. */
export function withoutNulls<T extends object>(changes: T): { [Name in keyof T]?: Exclude<T[Name], null> } {
  return Object.fromEntries(Object.entries(changes).filter(([, value]) => value !== null)) as never
}

export function toldSettings(key: KeySettings): ToldSettings {
  return told(SETTING_WORDS, key) as ToldSettings
}

export function toldAccountSettings(account: AccountSettings): ToldAccountSettings {
  return told<keyof AccountSettings>(ACCOUNT_WORDS, account) as ToldAccountSettings
}

function told<Name extends string>(words: Named<Name>, of: { readonly [N in Name]?: unknown }) {
  return Object.fromEntries(namesIn(words).map((name) => [words[name].field, toldValue(of[name], words[name].kind)]))
}

function toldValue(value: unknown = null, kind: string): unknown {
  if (typeof value === 'bigint') return formatCredits(value)
  return typeof value === 'number' && kind === 'moment' ? isoTime(value) : value
}
