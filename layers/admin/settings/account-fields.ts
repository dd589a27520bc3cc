import { z } from 'zod'
import { ACCOUNT_FIELD_NAMES, ACCOUNT_WORDS, type AccountField } from './account-words.ts'
import { line, textLike } from './rules.ts'
import { SETTING_FIELDS, sentence } from './setting-fields.ts'

const { name, external_id, note, notify_below, plan } = SETTING_FIELDS

/** Off and not set are one. */
const flag = z
  .boolean('must be true or false.')
  .transform((isOn) => isOn || null)
  .nullable()

const fields = {
  name,
  external_id,
  contact_name: line(0, 100)
    .transform((text) => text || null)
    .nullable(),
  contact_email: textLike(/^[^\s@\p{C}]{1,64}@[^\s@\p{C}]{1,190}$/u, 'an address such as ann@acme.example').nullable(),
  note,
  notify_below,
  plan,
  hides_balance: flag,
  shows_statements: flag,
} satisfies Record<AccountField, z.ZodType>

export const ACCOUNT_FIELDS = Object.fromEntries(
  ACCOUNT_FIELD_NAMES.map((field) => [field, fields[field].describe(sentence(ACCOUNT_WORDS[field].words))]),
) as typeof fields

export type ReadAccountSettings = { readonly [Field in AccountField]?: z.output<(typeof fields)[Field]> | undefined }
