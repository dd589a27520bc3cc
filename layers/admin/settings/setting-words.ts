import type { Setting } from '../../gateway/domain/keys/key-settings.ts'
import { rateText } from './lane-rates.ts'

/** The kind decides how a setting is parsed from text, shown, and asked for in a form. */
export type SettingKind = 'text' | 'count' | 'credits' | 'scopes' | 'patterns' | 'ranges' | 'plan' | 'moment' | 'flag'

/** A setting of a key, or of an account. */
export type SettingWords = {
  readonly kind: SettingKind
  /** The name in the console, and in `waybill keys show`. */
  readonly label: string
  readonly hint?: string
  /** Said of a count above 1 beside it. */
  readonly remark?: (count: number) => string
  readonly mostChars?: number
  /** Shares a line of the form with others. */
  readonly isShort?: boolean
  /** Shown in place of no value; a setting without it is required. */
  readonly none?: string | undefined
}

type Words = SettingWords & { readonly field: string }

const words = {
  name: { field: 'name', kind: 'text', label: 'Name', hint: 'What this key is for.', mostChars: 100 },
  rpm: { field: 'rpm', kind: 'count', label: 'Requests a minute', isShort: true },
  dailyLimit: { field: 'daily_limit', kind: 'count', label: 'Requests a day', isShort: true },
  maxConcurrent: { field: 'max_concurrent', kind: 'count', label: 'Requests at once', isShort: true },
  lanes: {
    field: 'lanes',
    kind: 'count',
    label: 'Lanes',
    isShort: true,
    hint: 'Items with a share of the limits each.',
    remark: rateText,
  },
  dailyCredits: { field: 'daily_credits', kind: 'credits', label: 'Credits a day', isShort: true, none: 'no limit' },
  monthlyCredits: {
    field: 'monthly_credits',
    kind: 'credits',
    label: 'Credits a month',
    isShort: true,
    none: 'no limit',
  },
  dailyLoss: { field: 'daily_loss', kind: 'credits', label: 'Loss a day', isShort: true, none: "the stage's" },
  notifyBelow: { field: 'notify_below', kind: 'credits', label: 'Notify below', isShort: true, none: 'never' },
  tpm: { field: 'tpm', kind: 'count', label: 'Tokens a minute', isShort: true, none: 'no limit' },
  scopes: { field: 'scopes', kind: 'scopes', label: 'Scopes' },
  models: {
    field: 'models',
    kind: 'patterns',
    label: 'Models',
    none: 'every model',
  },
  allowlist: {
    field: 'allowlist',
    kind: 'ranges',
    label: 'Allowed from',
    hint: 'A range in each line, such as 203.0.113.0/24. Empty: every address.',
    none: 'every address',
  },
  plan: { field: 'plan', kind: 'plan', label: 'Plan', mostChars: 15, isShort: true, none: "its account's" },
  externalId: {
    field: 'external_id',
    kind: 'text',
    label: 'External id',
    hint: 'Your own id of the customer.',
    mostChars: 128,
    isShort: true,
    none: 'none',
  },
  expiresAtMs: {
    field: 'expires_at',
    kind: 'moment',
    label: 'Expires',
    isShort: true,
    none: 'never',
  },
  note: { field: 'note', kind: 'text', label: 'Note', mostChars: 200, none: 'none' },
} as const satisfies Record<Setting, Words>

export type SettingField = (typeof words)[Setting]['field']

/** A key's settings as operators see them, in the order of the console's form. */
export const SETTING_WORDS: Readonly<Record<Setting, Words & { readonly field: SettingField }>> = words

export const ASKED_SETTINGS = Object.keys(SETTING_WORDS) as Setting[]
