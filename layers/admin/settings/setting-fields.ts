import type { z } from 'zod'
import { SCOPES } from '../../gateway/endpoints.ts'
import { cidrList, credits, line, modelPatterns, moment, someCredits, someOf, textLike, wholeNumber } from './rules.ts'
import { SETTING_OPTIONS } from './setting-options.ts'
import { ASKED_SETTINGS, SETTING_WORDS, type SettingField } from './setting-words.ts'

/** The settings of a key in the admin API, by their names there. Null removes one. */
export const SETTING_FIELDS = described({
  name: line(1, 100),
  rpm: wholeNumber(1, 60_000),
  daily_limit: wholeNumber(1, 1_000_000_000),
  max_concurrent: wholeNumber(1, 1_000),
  daily_credits: someCredits.nullable(),
  monthly_credits: someCredits.nullable(),
  daily_loss: credits.nullable(),
  notify_below: someCredits.nullable(),
  scopes: someOf(SCOPES),
  models: modelPatterns(50, 200),
  allowlist: cidrList(100),
  external_id: textLike(
    /^[\x21-\x7e]{1,128}$/,
    '1 to 128 letters, digits and signs of ASCII, without spaces',
  ).nullable(),
  expires_at: moment.nullable(),
  note: line(0, 200)
    .transform((note) => (note === '' ? null : note))
    .nullable(),
})

export type ReadSettings = { readonly [Field in SettingField]?: z.output<(typeof SETTING_FIELDS)[Field]> | undefined }

function described<Fields extends Record<SettingField, z.ZodType>>(fields: Fields): Fields {
  const rows = ASKED_SETTINGS.map((setting) => {
    const { field } = SETTING_WORDS[setting]
    const { words } = SETTING_OPTIONS[setting]
    return [field, fields[field].describe(`${words.charAt(0).toUpperCase()}${words.slice(1)}.`)]
  })
  return Object.fromEntries(rows) as Fields
}

/** The allowlist of an admin key, which must not work from everywhere by oversight. */
export const someCidrs = SETTING_FIELDS.allowlist.refine(
  (ranges) => ranges.length > 0,
  'must name at least one CIDR range: an admin key does not work from everywhere.',
)
