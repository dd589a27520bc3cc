import { z } from 'zod'
import { ACCOUNT_WORDS, type AccountField } from './account-words.ts'
import { line, someCredits, textLike } from './rules.ts'
import { SETTING_FIELDS } from './setting-fields.ts'

const orNone = (most: number) =>
  line(0, most)
    .transform((text) => (text === '' ? null : text))
    .nullable()

/** The settings of an account in the admin API, by their names there. Null removes one. */
export const ACCOUNT_FIELDS = described({
  name: line(1, 100),
  external_id: SETTING_FIELDS.external_id,
  contact_name: orNone(100),
  contact_email: textLike(/^[^\s@\p{C}]{1,64}@[^\s@\p{C}]{1,190}$/u, 'an address such as ann@acme.example').nullable(),
  note: orNone(200),
  notify_below: someCredits.nullable(),
  hides_balance: z
    .boolean('must be true or false.')
    .transform((hides) => hides || null)
    .nullable(),
})

export type ReadAccountSettings = {
  readonly [Field in AccountField]?: z.output<(typeof ACCOUNT_FIELDS)[Field]> | undefined
}

function described<Fields extends Record<AccountField, z.ZodType>>(fields: Fields): Fields {
  const rows = Object.values(ACCOUNT_WORDS).map(({ field, words }) => {
    return [field, fields[field].describe(`${words.charAt(0).toUpperCase()}${words.slice(1)}.`)]
  })
  return Object.fromEntries(rows) as Fields
}
