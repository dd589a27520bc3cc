import { ACCOUNT_FIELD_NAMES, ACCOUNT_WORDS } from '../../layers/admin/settings/account-words.ts'
import { shownText, typedText, typedValue } from '../../layers/admin/settings/setting-texts.ts'
import { ASKED_SETTINGS, SETTING_WORDS } from '../../layers/admin/settings/setting-words.ts'
import { KEY_SETTINGS, type Setting } from '../../layers/gateway/domain/keys/key-settings.ts'

type Row = (typeof SETTING_WORDS)[Setting]

export type FormField = Pick<Row, 'label' | 'hint' | 'remark' | 'mostChars' | 'none'> & {
  readonly field: string
  readonly kind: Row['kind'] | 'flag'
  readonly isShort?: boolean
  /** A value of the admin API as a person would type it, and as one reads it. */
  readonly typed: (value: unknown) => string
  readonly shown: (value: unknown) => string
  /** The typed text as a value of the admin API. */
  readonly value: (text: string) => unknown
}

export type Form = readonly FormField[]

export type Typed = Readonly<Record<string, string>>

const KEY_FORM: Form = ASKED_SETTINGS.map((setting) => ({
  ...SETTING_WORDS[setting],
  typed: (value) => typedText(setting, value),
  shown: (value) => shownText(setting, value),
  value: (text) => typedValue(setting, text, Date.now()),
}))

/** A key that uses the balance of a customer has no notice of its own. */
const FORM_OF_SHARED = KEY_FORM.filter(({ field }) => field !== 'notify_below')

export function keyForm(accountId: string | null | undefined): Form {
  return accountId ? FORM_OF_SHARED : KEY_FORM
}

const NONE: Readonly<Record<string, string>> = {
  name: '',
  notify_below: 'never',
  hides_balance: 'no',
  shows_statements: 'no',
}

export const CUSTOMER_FORM: Form = ACCOUNT_FIELD_NAMES.map((field) => {
  const row = ACCOUNT_WORDS[field]
  const none = NONE[field] ?? 'none'
  const typed = (value: unknown) => (value === true ? 'yes' : String(value || ''))
  return {
    ...row,
    field,
    none,
    isShort: !['name', 'note'].includes(field),
    typed,
    shown: (value) => typed(value) || none,
    value: (text) => (row.kind === 'flag' ? text !== '' : text.trim() || null),
  }
})

/** The settings of a new key. A name must be chosen. */
export const DEFAULTS: Typed = Object.fromEntries(
  ASKED_SETTINGS.map((setting) => {
    const { default: value } = KEY_SETTINGS[setting]
    return [SETTING_WORDS[setting].field, value === 'chosen' ? '' : typedText(setting, value)]
  }),
)

export function typedOf(of: object, form: Form): Typed {
  return Object.fromEntries(form.map(({ field, typed }) => [field, typed((of as Record<string, unknown>)[field])]))
}

export function settingsOf(typed: Typed, form = KEY_FORM): { readonly name: string } {
  return Object.fromEntries(form.map(({ field, value }) => [field, value(typed[field] ?? '')])) as never
}

/** Only the fields that were changed here, so that other people's changes are not overwritten. */
export function changesOf(before: Typed, after: Typed, form = KEY_FORM): object {
  const changed = form.filter(({ field }) => before[field] !== after[field])
  return settingsOf(after, changed)
}

/** The typed changes, on top of those that another person has made meanwhile. */
export function rebase(typed: Typed, before: Typed, now: Typed): Typed {
  return Object.fromEntries(
    Object.entries(typed).map(([name, text]) => [name, before[name] === text ? (now[name] ?? '') : text]),
  )
}
