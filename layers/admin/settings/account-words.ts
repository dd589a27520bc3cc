type Words = {
  readonly kind: 'text' | 'credits' | 'flag'
  readonly label: string
  readonly words: string
  readonly mostChars?: number
}

const words = {
  name: { kind: 'text', label: 'Name', words: 'the name of the customer', mostChars: 100 },
  external_id: { kind: 'text', label: 'External id', words: 'your own id, which no other has', mostChars: 128 },
  contact_name: { kind: 'text', label: 'Contact', words: 'whom to ask there', mostChars: 100 },
  contact_email: { kind: 'text', label: 'E-mail', words: 'the e-mail address of the contact', mostChars: 255 },
  note: { kind: 'text', label: 'Note', words: 'for people', mostChars: 200 },
  notify_below: { kind: 'credits', label: 'Notify below', words: 'credits below which its notice is sent' },
  plan: { kind: 'text', label: 'Plan', words: 'plan of its keys that have none of their own', mostChars: 15 },
  hides_balance: { kind: 'flag', label: 'Hide the balance', words: 'true if its keys are not told its balance' },
  shows_statements: { kind: 'flag', label: 'Show the statements', words: 'true if its keys may read its statements' },
} as const satisfies Record<string, Words>

export type AccountField = keyof typeof words

/** An account's settings as operators see them, by their names in the admin API and in the order of the console's form. */
export const ACCOUNT_WORDS: Readonly<Record<AccountField, Words>> = words

export const ACCOUNT_FIELD_NAMES = Object.keys(words) as AccountField[]
