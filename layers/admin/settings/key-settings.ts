import { isoTime } from '../../gateway/domain/basics/time.ts'
import { ACCOUNT_SETTINGS, type AccountChanges, type AccountSettings } from '../../gateway/domain/keys/account.ts'
import { type KeySettings, SETTINGS, type SettingChanges } from '../../gateway/domain/keys/key-settings.ts'
import { formatCredits } from '../../gateway/domain/money/money.ts'
import { wrong } from '../api/fields.ts'
import type { ToldAccountSettings } from '../api/shapes/accounts.ts'
import type { ToldSettings } from '../api/shapes/keys.ts'
import type { ReadAccountSettings } from './account-fields.ts'
import type { ReadSettings } from './setting-fields.ts'
import { SETTING_WORDS } from './setting-words.ts'

export function settingsIn(fields: ReadSettings, nowMs: number): SettingChanges {
  const { expires_at: endMs } = fields
  // A new key cannot have expired already.
  if (typeof endMs === 'number' && endMs <= nowMs) {
    throw wrong('expires_at', `must be later than now, but ${isoTime(endMs)} is not.`)
  }
  return given(KEY_NAMES, fields)
}

/** The API has the same names, in another case. */
export const apiName = (name: string) => name.replace(/[A-Z]/g, (sign) => `_${sign.toLowerCase()}`)

type Names = readonly (readonly [setting: string, field: string])[]
type Values = Readonly<Record<string, unknown>>

const KEY_NAMES: Names = SETTINGS.map((setting) => [setting, SETTING_WORDS[setting].field])
const ACCOUNT_NAMES: Names = ACCOUNT_SETTINGS.map((setting) => [setting, apiName(setting)])

export function accountSettingsIn(fields: ReadAccountSettings): AccountChanges {
  return given(ACCOUNT_NAMES, fields)
}

function given(names: Names, fields: Values) {
  const values = names.map(([setting, field]) => [setting, fields[field]])
  return Object.fromEntries(values.filter(([, value]) => value !== undefined))
}

/** A new key or account has no settings to remove. */
export function withoutNulls<T extends object>(changes: T): { [Name in keyof T]?: Exclude<T[Name], null> } {
  return Object.fromEntries(Object.entries(changes).filter(([, value]) => value !== null)) as never
}

export const toldSettings = (key: KeySettings): ToldSettings => told(KEY_NAMES, { ...key })

export const toldAccountSettings = (account: AccountSettings): ToldAccountSettings =>
  told(ACCOUNT_NAMES, { ...account })

function told(names: Names, settings: Values) {
  const values = names.map(([setting, field]) => {
    const value = settings[setting] ?? null
    if (typeof value === 'bigint') return [field, formatCredits(value)]
    return [field, setting === 'expiresAtMs' && typeof value === 'number' ? isoTime(value) : value]
  })
  return Object.fromEntries(values)
}
