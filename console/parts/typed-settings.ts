import { ACCOUNT_FIELD_NAMES, ACCOUNT_WORDS } from '../../layers/admin/settings/account-words.ts'
import { typedText, typedValue } from '../../layers/admin/settings/setting-texts.ts'
import { ASKED_SETTINGS, SETTING_WORDS, type SettingWords } from '../../layers/admin/settings/setting-words.ts'
import { KEY_SETTINGS } from '../../layers/gateway/domain/keys/key-settings.ts'

export type FormField = SettingWords & { readonly field: string }
export type Form = readonly FormField[]

export type Typed = Readonly<Record<string, string>>

const KEY_FORM: Form = Object.values(SETTING_WORDS)

/** A key that uses the balance of a customer has no notice of its own. */
const FORM_OF_SHARED = KEY_FORM.filter(({ field }) => field !== 'notify_below')

export function keyForm(accountId: string | null | undefined): Form {
  return accountId ? FORM_OF_SHARED : KEY_FORM
}

export const CUSTOMER_FORM: Form = ACCOUNT_FIELD_NAMES.map((field) => ({ field, ...ACCOUNT_WORDS[field] }))

/** The settings of a new key. A name must be chosen. */
export const DEFAULTS: Typed = Object.fromEntries(
  ASKED_SETTINGS.map((setting) => {
    const { default: value } = KEY_SETTINGS[setting]
    return [SETTING_WORDS[setting].field, value === 'chosen' ? '' : typedText(value)]
  }),
)

export function typedOf(of: object, form: Form): Typed {
  return Object.fromEntries(form.map(({ field }) => [field, typedText((of as Record<string, unknown>)[field])]))
}

export function settingsOf(typed: Typed, form = KEY_FORM): { readonly name: string } {
  return Object.fromEntries(
    form.map((row) => [row.field, typedValue(row, typed[row.field] ?? '', Date.now())]),
  ) as never
}

/** Only the fields that were changed here, so that other people's changes are not overwritten. */
export function changesOf(before: Typed, after: Typed): Typed {
  return Object.fromEntries(Object.entries(after).filter(([field, text]) => before[field] !== text))
}
