import { isoTime } from '../../gateway/domain/basics/time.ts'
import { ACCOUNT_SETTINGS, type AccountChanges, type AccountSettings } from '../../gateway/domain/keys/account.ts'
import { type KeySettings, SETTINGS, type SettingChanges } from '../../gateway/domain/keys/key-settings.ts'
import { formatCredits } from '../../gateway/domain/money/money.ts'
import { wrong } from '../api/fields.ts'
import type { ToldAccountSettings } from '../api/shapes/accounts.ts'
import type { ToldSettings } from '../api/shapes/keys.ts'
import type { ReadAccountSettings } from './account-fields.ts'
import type { AccountField } from './account-words.ts'
import type { ReadSettings } from './setting-fields.ts'
import { SETTING_WORDS } from './setting-words.ts'

/** The settings that a body gives; null removes a setting. */
export function settingsIn(fields: ReadSettings, nowMs: number): SettingChanges {
  const { expires_at: endMs } = fields
  // A new key cannot have expired already.
  if (typeof endMs === 'number' && endMs <= nowMs) {
    throw wrong('expires_at', `must be later than now, but ${isoTime(endMs)} is not.`)
  }
  return given(SETTINGS.map((setting) => [setting, fields[SETTING_WORDS[setting].field]]))
}

/** The API has the same names, in another case. */
export const apiName = (name: string) => name.replace(/[A-Z]/g, (sign) => `_${sign.toLowerCase()}`)

const ACCOUNT_NAMES = ACCOUNT_SETTINGS.map((setting) => [setting, apiName(setting) as AccountField] as const)

export function accountSettingsIn(fields: ReadAccountSettings): AccountChanges {
  return given(ACCOUNT_NAMES.map(([setting, field]) => [setting, fields[field]]))
}

const given = (values: [string, unknown][]) => Object.fromEntries(values.filter(([, value]) => value !== undefined))

/** A new key or account has no settings to remove. */
export function withoutNulls<T extends object>(changes: T): { [Name in keyof T]?: Exclude<T[Name], null> } {
  return Object.fromEntries(Object.entries(changes).filter(([, value]) => value !== null)) as never
}

export function toldSettings(key: KeySettings): ToldSettings {
  const told = SETTINGS.map((setting) => {
    const { field, kind } = SETTING_WORDS[setting]
    const value = key[setting] ?? null
    return [field, kind === 'moment' && typeof value === 'number' ? isoTime(value) : toldValue(value)]
  })
  return Object.fromEntries(told)
}

export function toldAccountSettings(account: AccountSettings): ToldAccountSettings {
  return Object.fromEntries(
    ACCOUNT_NAMES.map(([setting, field]) => [field, toldValue(account[setting] ?? null)]),
  ) as never
}

const toldValue = (value: unknown) => (typeof value === 'bigint' ? formatCredits(value) : value)
