import type { z } from 'zod'
import { MOST_LANES, type Setting } from '../../gateway/domain/keys/key-settings.ts'
import { SCOPES } from '../../gateway/endpoints.ts'
import { rateText } from './lane-rates.ts'
import { cidrList, credits, line, modelPatterns, moment, someCredits, someOf, textLike, wholeNumber } from './rules.ts'
import { ASKED_SETTINGS, SETTING_WORDS, type SettingField } from './setting-words.ts'

type Words = {
  /** The option of `waybill keys create` and `update`, with the name of its argument. */
  readonly option: string
  readonly argument: string
  readonly words: string
}

/** A key's settings on the command line, and their words in the admin API's document. The page has no use for them. */
export const SETTING_OPTIONS: Readonly<Record<Setting, Words>> = {
  name: { option: 'name', argument: 'name', words: 'what this key is for' },
  rpm: { option: 'rpm', argument: 'n', words: 'requests per minute' },
  dailyLimit: { option: 'daily', argument: 'n', words: 'requests per UTC day' },
  maxConcurrent: { option: 'concurrent', argument: 'n', words: 'requests under way at once' },
  lanes: {
    option: 'lanes',
    argument: 'n',
    words: `items over which its requests are spread; each takes ${rateText(1)}`,
  },
  dailyCredits: { option: 'daily-credits', argument: 'credits', words: 'credits per UTC day' },
  monthlyCredits: { option: 'monthly-credits', argument: 'credits', words: 'credits per UTC month' },
  dailyLoss: {
    option: 'daily-loss',
    argument: 'credits',
    words: 'credits per UTC day that its requests may cost the operator beyond their charges',
  },
  tpm: { option: 'tpm', argument: 'n', words: 'tokens per UTC minute, of prompts and answers' },
  notifyBelow: { option: 'notify-below', argument: 'credits', words: 'credits below which its notice is sent' },
  scopes: { option: 'scopes', argument: 'list', words: 'endpoints it may call' },
  models: {
    option: 'models',
    argument: 'list',
    words: 'models it may use, as ids and as patterns with *; empty for every model',
  },
  allowlist: {
    option: 'allow',
    argument: 'list',
    words: 'addresses it may be used from, as CIDR ranges; empty for every address',
  },
  externalId: { option: 'external-id', argument: 'id', words: 'your own id of who it is for, which no other key has' },
  expiresAtMs: { option: 'expires', argument: 'when', words: 'when it ends: a UTC day or a moment' },
  note: { option: 'note', argument: 'text', words: 'for people' },
}

/** The bounds of a key with one lane. */
export const MOST_OF_A_LANE = { rpm: 60_000, maxConcurrent: 1_000 }

export const MOST_TPM = 1_000_000_000

export const SETTING_FIELDS = described({
  name: line(1, 100),
  rpm: wholeNumber(1, MOST_OF_A_LANE.rpm * MOST_LANES),
  daily_limit: wholeNumber(1, 1_000_000_000),
  max_concurrent: wholeNumber(1, MOST_OF_A_LANE.maxConcurrent * MOST_LANES),
  lanes: wholeNumber(1, MOST_LANES),
  daily_credits: someCredits.nullable(),
  monthly_credits: someCredits.nullable(),
  daily_loss: credits.nullable(),
  tpm: wholeNumber(1, MOST_TPM).nullable(),
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
    return [field, fields[field].describe(sentence(words))]
  })
  return Object.fromEntries(rows) as Fields
}

export function sentence(words: string): string {
  return `${words.charAt(0).toUpperCase()}${words.slice(1)}.`
}

/** The allowlist of an admin key, which must not work from everywhere by oversight. */
export const someCidrs = SETTING_FIELDS.allowlist.refine(
  (ranges) => ranges.length > 0,
  'must name at least one CIDR range: an admin key does not work from everywhere.',
)
