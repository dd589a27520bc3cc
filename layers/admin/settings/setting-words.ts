import type { Setting } from '../../gateway/domain/keys/key-settings.ts'
import { rateText } from './lane-rates.ts'

/** The kind decides how a setting is parsed from text, shown, and asked for in a form. */
export type SettingKind = 'text' | 'count' | 'credits' | 'scopes' | 'patterns' | 'ranges' | 'plan' | 'moment' | 'flag'

export type SettingWords = {
  readonly kind: SettingKind
  /** The name in the console, and in `waybill keys show`. */
  readonly label: string
  readonly hint?: string
  /** Said of a count above 1 beside it. */
  readonly remark?: (count: number) => string
  readonly mostChars?: number
  /** Shares no line of the form with others. */
  readonly isWide?: boolean
  /** Shown in place of no value; a setting without it is required. */
  readonly none?: string | undefined
}

type Words = SettingWords & { readonly field: string }

const words = {
  name: { field: 'name', kind: 'text', label: 'Name', hint: 'What this key is for.', mostChars: 100, isWide: true },
  rpm: { field: 'rpm', kind: 'count', label: 'Requests a minute' },
  dailyLimit: { field: 'daily_limit', kind: 'count', label: 'Requests a day' },
  maxConcurrent: { field: 'max_concurrent', kind: 'count', label: 'Requests at once' },
  tpm: { field: 'tpm', kind: 'count', label: 'Tokens a minute', none: 'no limit' },
  lanes: {
    field: 'lanes',
    kind: 'count',
    label: 'Lanes',
    isWide: true,
    hint: 'Items with a share of the limits each.',
    remark: rateText,
  },
  models: { field: 'models', kind: 'patterns', label: 'Models', isWide: true, none: 'every model' },
  dailyCredits: { field: 'daily_credits', kind: 'credits', label: 'Credits a day', none: 'no limit' },
  monthlyCredits: { field: 'monthly_credits', kind: 'credits', label: 'Credits a month', none: 'no limit' },
  dailyLoss: { field: 'daily_loss', kind: 'credits', label: 'Loss a day', none: "the stage's" },
  notifyBelow: { field: 'notify_below', kind: 'credits', label: 'Notify below', none: 'never' },
  scopes: { field: 'scopes', kind: 'scopes', label: 'Scopes', isWide: true },
  allowlist: {
    field: 'allowlist',
    kind: 'ranges',
    label: 'Allowed from',
    isWide: true,
    hint: 'A range in each line, such as 203.0.113.0/24. Empty: every address.',
    none: 'every address',
  },
  plan: { field: 'plan', kind: 'plan', label: 'Plan', mostChars: 15, none: "its account's, if any" },
  externalId: {
    field: 'external_id',
    kind: 'text',
    label: 'External id',
    hint: 'Your own id of the customer.',
    mostChars: 128,
    none: 'none',
  },
  expiresAtMs: { field: 'expires_at', kind: 'moment', label: 'Expires', isWide: true, none: 'never' },
  note: { field: 'note', kind: 'text', label: 'Note', mostChars: 200, isWide: true, none: 'none' },
} as const satisfies Record<Setting, Words>

export type SettingField = (typeof words)[Setting]['field']

/** A key's settings as operators see them, in the order of the console's form. */
export const SETTING_WORDS: Readonly<Record<Setting, Words & { readonly field: SettingField }>> = words

export const ASKED_SETTINGS = Object.keys(SETTING_WORDS) as Setting[]
