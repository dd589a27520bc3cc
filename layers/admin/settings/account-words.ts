type Words = {
  /** The name in the admin API. Its option on the command line has hyphens in place of the lines. */
  readonly field: string
  readonly kind: 'text' | 'credits' | 'flag'
  readonly label: string
  readonly words: string
  readonly mostChars?: number
  readonly none?: string
}

const words = {
  name: { field: 'name', kind: 'text', label: 'Name', words: 'the name of the customer', mostChars: 100 },
  externalId: {
    field: 'external_id',
    kind: 'text',
    label: 'External id',
    words: 'your own id of the customer, which no other account or key has',
    mostChars: 128,
    none: 'none',
  },
  contactName: {
    field: 'contact_name',
    kind: 'text',
    label: 'Contact',
    words: 'whom to ask there',
    mostChars: 100,
    none: 'none',
  },
  contactEmail: {
    field: 'contact_email',
    kind: 'text',
    label: 'E-mail',
    words: 'the e-mail address of the contact',
    mostChars: 255,
    none: 'none',
  },
  note: { field: 'note', kind: 'text', label: 'Note', words: 'for people', mostChars: 200, none: 'none' },
  notifyBelow: {
    field: 'notify_below',
    kind: 'credits',
    label: 'Notify below',
    words: 'credits below which its notice is sent',
    none: 'never',
  },
  hidesBalance: {
    field: 'hides_balance',
    kind: 'flag',
    label: 'Hide the balance',
    words: 'true if its keys are not told its balance',
    none: 'no',
  },
} as const satisfies Record<string, Words>

export type AccountSetting = keyof typeof words
export type AccountField = (typeof words)[AccountSetting]['field']

/** An account's settings as operators see them, in the order of the console's form. */
export const ACCOUNT_WORDS: Readonly<Record<AccountSetting, Words & { readonly field: AccountField }>> = words

export const ASKED_OF_ACCOUNTS = Object.keys(words) as AccountSetting[]
