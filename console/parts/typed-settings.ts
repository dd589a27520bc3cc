import type { CreateKeyBody, UpdateKeyBody } from '../../layers/admin/api/shapes/bodies.ts'
import type { KeyShape } from '../../layers/admin/api/shapes/keys.ts'
import { typedText, typedValue } from '../../layers/admin/settings/setting-texts.ts'
import type { SettingField } from '../../layers/admin/settings/setting-words.ts'
import { ASKED_SETTINGS, SETTING_WORDS } from '../../layers/admin/settings/setting-words.ts'
import { KEY_SETTINGS, type Setting } from '../../layers/gateway/domain/keys/key-settings.ts'

export type Typed = Readonly<Record<SettingField, string>>

/** The settings of a new key. A name must be chosen. */
export const DEFAULTS: Typed = typedBy((setting) => {
  const { default: value } = KEY_SETTINGS[setting]
  return value === 'chosen' ? '' : value
})

export function typedOf(key: KeyShape): Typed {
  return typedBy((setting) => key[SETTING_WORDS[setting].field])
}

function typedBy(valueIn: (setting: Setting) => unknown): Typed {
  const texts = ASKED_SETTINGS.map((setting) => [SETTING_WORDS[setting].field, typedText(setting, valueIn(setting))])
  return Object.fromEntries(texts)
}

export function settingsOf(typed: Typed): CreateKeyBody {
  const values = ASKED_SETTINGS.map((setting) => {
    const { field } = SETTING_WORDS[setting]
    return [field, typedValue(setting, typed[field], Date.now())]
  })
  return Object.fromEntries(values)
}

/** Only the fields that were changed here, so that other people's changes are not overwritten. */
export function changesOf(before: Typed, after: Typed): UpdateKeyBody {
  const settings = Object.entries(settingsOf(after)) as [SettingField, unknown][]
  return Object.fromEntries(settings.filter(([field]) => before[field] !== after[field]))
}

/** The typed changes, on top of those that another person has made meanwhile. */
export function rebase(typed: Typed, before: Typed, now: Typed): Typed {
  const names = Object.keys(typed) as SettingField[]
  return Object.fromEntries(names.map((name) => [name, (before[name] === typed[name] ? now : typed)[name]])) as Typed
}
