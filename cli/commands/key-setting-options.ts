import { InvalidArgumentError, Option } from 'commander'
import type { UpdateKeyBody } from '../../layers/admin/api/shapes/bodies.ts'
import { SETTING_FIELDS, SETTING_OPTIONS } from '../../layers/admin/settings/setting-fields.ts'
import { typedValue } from '../../layers/admin/settings/setting-texts.ts'
import { ASKED_SETTINGS, SETTING_WORDS, type SettingKind } from '../../layers/admin/settings/setting-words.ts'
import { isOptional, KEY_SETTINGS, type Setting } from '../../layers/gateway/domain/keys/key-settings.ts'
import { SCOPES } from '../../layers/gateway/endpoints.ts'

/** Commander's options: texts, by the names of the options. */
export type SettingOptions = Readonly<Record<string, unknown>>

const HELP: Partial<Record<SettingKind, string>> = {
  scopes: `: ${SCOPES.join(',')}`,
  moment: ", or a period from now such as 30d, or 'never'",
}
const ALSO: Partial<Record<SettingKind, string>> = { moment: " Here also a period such as 30d, or 'never'." }

export function settingOptions(isNew: boolean): Option[] {
  return ASKED_SETTINGS.map((setting) =>
    optionOf(setting).makeOptionMandatory(isNew && KEY_SETTINGS[setting].default === 'chosen'),
  )
}

function optionOf(setting: Setting): Option {
  const { option, argument, words } = SETTING_OPTIONS[setting]
  const { kind, none } = SETTING_WORDS[setting]
  const help = `${words}${HELP[kind] ?? ''}${isOptional(setting) ? `; empty for ${none}` : ''}`
  return new Option(`--${option} <${argument}>`, help).argParser((text: string) => checkedText(setting, text))
}

/** The text unchanged: the end of a period is known only when the command runs. */
function checkedText(setting: Setting, text: string): string {
  const { field, kind } = SETTING_WORDS[setting]
  const { error } = SETTING_FIELDS[field].safeParse(typedValue(setting, text, 0))
  if (error) throw new InvalidArgumentError(`It ${error.issues[0]?.message}${ALSO[kind] ?? ''}`)
  return text
}

export function settingsOf(options: SettingOptions, nowMs: number): UpdateKeyBody {
  const given = ASKED_SETTINGS.flatMap((setting) => {
    const text = options[optionOf(setting).attributeName()]
    return typeof text === 'string' ? [[SETTING_WORDS[setting].field, typedValue(setting, text, nowMs)]] : []
  })
  return Object.fromEntries(given)
}
