import { z } from 'zod'
import { MOST_LANES, type Setting } from '../../gateway/domain/keys/key-settings.ts'
import { parseFactor } from '../../gateway/domain/money/plan.ts'
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
  plan: { option: 'plan', argument: 'plan', words: 'plan by which it is charged' },
  externalId: { option: 'external-id', argument: 'id', words: 'your own id of who it is for, which no other key has' },
  expiresAtMs: { option: 'expires', argument: 'when', words: 'when it ends: a UTC day or a moment' },
  note: { option: 'note', argument: 'text', words: 'for people' },
}

/** Short, because it is on the item of every key that has it. */
export const planName = textLike(/^[a-z0-9][a-z0-9-]{0,14}$/, 'a name of 1 to 15 lower-case letters, digits and -')
const FACTOR = 'must be a plain decimal from 0.0001 to 100 with at most 4 decimals, such as 1.25.'
export const factor = z.string(FACTOR).refine((text) => parseFactor(text) !== undefined, FACTOR)

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
  plan: planName.nullable(),
  external_id: textLike(
    /^[\x21-\x7e]{1,128}$/,
    '1 to 128 letters, digits and signs of ASCII, without spaces',
  ).nullable(),
  expires_at: moment.nullable(),
  note: line(0, 200)
    .transform((note) => (note === '' ? null : note))
    .nullable(),
})

const DEFAULTS = [
  ...(['rpm', 'tpm', 'daily_limit', 'max_concurrent', 'models'] as const),
  ...(['daily_credits', 'monthly_credits', 'daily_loss'] as const),
]
const orNone = (rule: z.ZodType) =>
  rule
    .clone()
    .nullable()
    .describe(rule.description ?? '')
const nullable = DEFAULTS.map((field) => [field, orNone(SETTING_FIELDS[field])])
/** Settings that a plan may have for the keys that are made with it; null for those that it leaves alone. */
export const PLAN_DEFAULTS: { readonly [Field in (typeof DEFAULTS)[number]]: z.ZodType } = Object.fromEntries(nullable)

export type ReadSettings = { readonly [Field in SettingField]?: z.output<(typeof SETTING_FIELDS)[Field]> | undefined }

function described<Fields extends Record<SettingField, z.ZodType>>(fields: Fields): Fields {
  const rows = ASKED_SETTINGS.map((setting) => {
    const { field } = SETTING_WORDS[setting]
    return [field, fields[field].describe(sentence(SETTING_OPTIONS[setting].words))]
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
