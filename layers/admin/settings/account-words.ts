import type { SettingWords } from './setting-words.ts'

type Words = SettingWords & { readonly words: string }

const own = { kind: 'text', none: 'none', isShort: true } as const
const amount = { kind: 'credits', none: 'never', isShort: true } as const
const flag = { kind: 'flag', none: 'no', isShort: true } as const

const words = {
  name: { kind: 'text', label: 'Name', words: 'the name of the customer', mostChars: 100 },
  external_id: { ...own, label: 'External id', words: 'your own id, which no other has', mostChars: 128 },
  contact_name: { ...own, label: 'Contact', words: 'whom to ask there', mostChars: 100 },
  contact_email: { ...own, label: 'E-mail', words: 'the e-mail address of the contact', mostChars: 255 },
  note: { ...own, isShort: false, label: 'Note', words: 'for people', mostChars: 200 },
  notify_below: { ...amount, label: 'Notify below', words: 'credits below which its notice is sent' },
  plan: { ...own, kind: 'plan', label: 'Plan', words: 'plan of its keys that have none of their own', mostChars: 15 },
  hides_balance: { ...flag, label: 'Hide the balance', words: 'true if its keys are not told its balance' },
  shows_statements: { ...flag, label: 'Show the statements', words: 'true if its keys may read its statements' },
} as const satisfies Record<string, Words>

export type AccountField = keyof typeof words

/** An account's settings as operators see them, by their names in the admin API and in the order of the console's form. */
export const ACCOUNT_WORDS: Readonly<Record<AccountField, Words>> = words

export const ACCOUNT_FIELD_NAMES = Object.keys(words) as AccountField[]
