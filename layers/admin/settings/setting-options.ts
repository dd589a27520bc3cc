import type { Setting } from '../../gateway/domain/keys/key-settings.ts'

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
  dailyCredits: { option: 'daily-credits', argument: 'credits', words: 'credits per UTC day' },
  monthlyCredits: { option: 'monthly-credits', argument: 'credits', words: 'credits per UTC month' },
  dailyLoss: {
    option: 'daily-loss',
    argument: 'credits',
    words: 'credits per UTC day that its requests may cost the operator beyond their charges',
  },
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
