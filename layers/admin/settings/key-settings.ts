import { isoTime } from '../../gateway/domain/basics/time.ts'
import {
  type KeySettings,
  SETTINGS,
  type Setting,
  type SettingChanges,
} from '../../gateway/domain/keys/key-settings.ts'
import { formatCredits } from '../../gateway/domain/money/money.ts'
import { wrong } from '../api/fields.ts'
import type { ToldSettings } from '../api/shapes/keys.ts'
import type { ReadSettings } from './setting-fields.ts'
import { SETTING_WORDS } from './setting-words.ts'

/** The settings that a body gives; null removes a setting. */
export function settingsIn(fields: ReadSettings, nowMs: number): SettingChanges {
  const { expires_at: endMs } = fields
  // A new key cannot have expired already.
  if (typeof endMs === 'number' && endMs <= nowMs) {
    throw wrong('expires_at', `must be later than now, but ${isoTime(endMs)} is not.`)
  }
  const given = SETTINGS.map((setting) => [setting, fields[SETTING_WORDS[setting].field]])
  return Object.fromEntries(given.filter(([, value]) => value !== undefined))
}

export function toldSettings(key: KeySettings): ToldSettings {
  const told = SETTINGS.map((setting) => [SETTING_WORDS[setting].field, toldValue(key, setting)])
  return Object.fromEntries(told) as ToldSettings
}

function toldValue(key: KeySettings, setting: Setting): unknown {
  const value = key[setting] ?? null
  if (typeof value === 'bigint') return formatCredits(value)
  const isTime = typeof value === 'number' && SETTING_WORDS[setting].kind === 'moment'
  return isTime ? isoTime(value) : value
}
