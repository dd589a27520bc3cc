import type { Scope } from '../../endpoints.ts'
import { HOUR_MS } from '../basics/time.ts'
import type { Nano } from '../money/money.ts'

/** The old secret of a rotated key works for so long, unless a shorter period is chosen. */
export const GRACE_MS = HOUR_MS

/** All lanes of a key are read at once. */
export const MOST_LANES = 32

type Required = {
  readonly name: string
  readonly scopes: readonly Scope[]
  /** Ids of models, and patterns of ids with `*`; none means all. */
  readonly models: readonly string[]
  readonly allowlist: readonly string[]
  readonly rpm: number
  readonly dailyLimit: number
  readonly maxConcurrent: number
  /** The items over which its requests are spread: one takes so many writes a second, and no more. */
  readonly lanes: number
}

type Optional = {
  /** The most credits of a UTC day, or month, that requests may hold and be charged. */
  readonly dailyCredits?: Nano | undefined
  readonly monthlyCredits?: Nano | undefined
  /** The most that its requests may cost the operator beyond their charges on a UTC day; without it, the stage's. */
  readonly dailyLoss?: Nano | undefined
  /** The most tokens of a UTC minute, of prompts and answers, that requests may take and use. */
  readonly tpm?: number | undefined
  /** The plan by which it is charged, in place of its account's. */
  readonly plan?: string | undefined
  /** The operator's own id of its customer, which no other key that is not revoked has. */
  readonly externalId?: string | undefined
  readonly expiresAtMs?: number | undefined
  readonly note?: string | undefined
  /** The operator is told when the credits that are not charged fall below it. */
  readonly notifyBelow?: Nano | undefined
}

export type KeySettings = Required & Optional
export type Setting = keyof KeySettings

export type SettingChanges = Partial<Required> & {
  readonly [Name in keyof Optional]?: Optional[Name] | null
}

type Row<T, Default> = {
  /** The value for a new key; null is none, and a name must be chosen. */
  readonly default: Default
  /** An amount of credits, which the table keeps as a number and events as a decimal. */
  readonly isNano?: true
  /** The form in events, if people read it in another form than the stored one. */
  readonly inEvents?: (value: T) => Readonly<Record<string, unknown>>
}

type Rows = { readonly name: Row<string, 'chosen'> } & {
  readonly [Name in Exclude<keyof Required, 'name'>]: Row<Required[Name], Required[Name]>
} & {
  readonly [Name in keyof Optional]-?: Row<NonNullable<Optional[Name]>, null>
}

export const KEY_SETTINGS: Rows = {
  name: { default: 'chosen' },
  // Named one by one: a scope that is added later is given to nobody by itself.
  scopes: { default: ['chat.completions', 'models.read'] },
  models: { default: [] },
  allowlist: { default: [] },
  rpm: { default: 60 },
  dailyLimit: { default: 10_000 },
  maxConcurrent: { default: 200 },
  lanes: { default: 1 },
  dailyCredits: { default: null, isNano: true },
  monthlyCredits: { default: null, isNano: true },
  dailyLoss: { default: null, isNano: true },
  tpm: { default: null },
  plan: { default: null },
  externalId: { default: null },
  // Not `expiresAt`, by which DynamoDB would delete the key with its books.
  expiresAtMs: { default: null, inEvents: (ms) => ({ expiresAt: new Date(ms).toISOString() }) },
  note: { default: null },
  notifyBelow: { default: null, isNano: true },
}

export const SETTINGS = Object.keys(KEY_SETTINGS) as Setting[]

export function isOptional(setting: Setting): boolean {
  return KEY_SETTINGS[setting].default === null
}
