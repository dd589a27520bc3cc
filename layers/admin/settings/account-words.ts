import type { SettingWords } from './setting-words.ts'

type Words = SettingWords & { readonly words: string }

const own = { kind: 'text', none: 'none' } as const

const words = {
  name: { kind: 'text', isWide: true, label: 'Name', words: 'the name of the customer', mostChars: 100 },
  external_id: { ...own, label: 'External id', words: 'your own id, which no other has', mostChars: 128 },
  contact_name: { ...own, label: 'Contact', words: 'whom to ask there', mostChars: 100 },
  contact_email: { ...own, label: 'E-mail', words: 'the e-mail address of the contact', mostChars: 255 },
  note: { ...own, isWide: true, label: 'Note', words: 'for people', mostChars: 200 },
  notify_below: { ...own, kind: 'credits', label: 'Notify below', words: 'credits below which its notice is sent' },
  plan: { ...own, kind: 'plan', label: 'Plan', words: 'plan of its keys that have none of their own', mostChars: 15 },
  hides_balance: {
    ...own,
    kind: 'flag',
    label: 'Hide the balance',
    words: 'true if its keys are not told its balance',
  },
  shows_statements: { ...own, kind: 'flag', label: 'Statements', words: 'true if its keys may read its statements' },
} as const satisfies Record<string, Words>

export type AccountField = keyof typeof words

/** An account's settings as operators see them, by their names in the admin API and in the order of the console's form. */
export const ACCOUNT_WORDS: Readonly<Record<AccountField, Words>> = words

export const ACCOUNT_FIELD_NAMES = Object.keys(words) as AccountField[]
