import type { CounterRefusal } from '../basics/gateway-error.ts'
import { DAY_MS, MINUTE_MS, utcDay } from '../basics/time.ts'
import type { KeySettings } from '../keys/key-settings.ts'
import type { Lane } from '../keys/lane.ts'
import type { Nano } from '../money/money.ts'
import { shareOf } from './shares.ts'

export type WindowKind = 'minute' | 'day' | 'month'

type WindowRule = {
  /** The name of the window that is open at this time. Names of a kind sort by time. */
  readonly nameAt: (ms: number) => string
  readonly nextAtMs: (nowMs: number) => number
  /** A window is kept for so long after it has closed: a write can land late, and another clock can be behind. */
  readonly keptMs: number
}

export const WINDOWS: Readonly<Record<WindowKind, WindowRule>> = {
  minute: {
    // So many minutes after 1970, in five signs.
    nameAt: (ms) => Math.floor(ms / MINUTE_MS).toString(36),
    nextAtMs: (nowMs) => nowMs - (nowMs % MINUTE_MS) + MINUTE_MS,
    keptMs: 2 * MINUTE_MS,
  },
  day: {
    nameAt: utcDay,
    nextAtMs: (nowMs) => nowMs - (nowMs % DAY_MS) + DAY_MS,
    keptMs: DAY_MS,
  },
  month: {
    nameAt: (ms) => utcDay(ms).slice(0, 'yyyy-mm'.length),
    nextAtMs: (nowMs) => {
      const now = new Date(nowMs)
      return Date.UTC(now.getUTCFullYear(), now.getUTCMonth() + 1)
    },
    keptMs: DAY_MS,
  },
}

/** A limit of a key that counts within a window of time. The key's item has an attribute for each window. */
export type Counter = {
  /** Requests count for good; the unspent part of held credits and of tokens returns; a loss beyond the charges is only read. */
  readonly counts: 'requests' | 'credits' | 'tokens' | 'loss'
  readonly within: WindowKind
  readonly refusal: CounterRefusal
  /** Its name on a key's item, before the window: short, because every request pays for each KB of the item. */
  readonly stored: string
  readonly api: string
}

/** Each counter has the name of the setting that is its limit. A key without that setting is unlimited. */
export const COUNTERS = {
  dailyLimit: counter({ counts: 'requests', within: 'day', stored: 'n', api: 'daily_limit' }),
  dailyCredits: counter({ counts: 'credits', within: 'day', stored: 'c', api: 'daily_credits' }),
  monthlyCredits: counter({ counts: 'credits', within: 'month', stored: 'm', api: 'monthly_credits' }),
  dailyLoss: counter({ counts: 'loss', within: 'day', stored: 'l', api: 'daily_loss' }),
  tpm: { counts: 'tokens', within: 'minute', stored: 't', api: 'tpm', refusal: 'token_rate_limit_exceeded' },
} satisfies Readonly<Record<string, Counter>>

function counter<const Row extends Omit<Counter, 'refusal'>>(row: Row) {
  return { ...row, refusal: `${row.api as Row['api']}_exceeded` as const }
}

type Counters = typeof COUNTERS
export type CounterName = keyof Counters
export type CreditCounter = {
  [Name in CounterName]: Counters[Name]['counts'] extends 'credits' ? Name : never
}[CounterName]

export const COUNTER_NAMES = Object.keys(COUNTERS) as CounterName[]
export const CREDIT_COUNTERS = COUNTER_NAMES.filter(
  (name): name is CreditCounter => COUNTERS[name].counts === 'credits',
)

export type Counts = Record<CounterName, Record<string, bigint>>

type CountedKey = KeySettings & {
  readonly counts: Counts
  readonly available: Nano
  readonly lane?: Lane | undefined
}

export function noCounts(): Counts {
  return Object.fromEntries(COUNTER_NAMES.map((name) => [name, {}])) as Counts
}

export function windowOf({ within }: Counter, ms: number): string {
  return WINDOWS[within].nameAt(ms)
}

export function secondsLeft({ within }: Counter, nowMs: number): number {
  return Math.ceil((WINDOWS[within].nextAtMs(nowMs) - nowMs) / 1000)
}

export function oldestKept({ within }: Counter, nowMs: number): string {
  const { nameAt, keptMs } = WINDOWS[within]
  return nameAt(nowMs - keptMs)
}

/** The most that a request may be charged, and may use if its key has a limit on tokens. */
export type Most = { readonly hold: Nano; readonly tokens?: bigint | undefined }

export function takenBy({ hold, tokens = 0n }: Most, { counts }: Counter): bigint {
  return { requests: 1n, credits: hold, tokens, loss: 0n }[counts]
}

/** The name of what is counted within a window, in a key's item as well. Only names of this kind have a colon. */
export const countName = ({ stored }: Pick<Counter, 'stored'>, window: string) => `${stored}:${window}`

/** The limit in the window that is open at a time. A lane has its part of it. */
export function limitOf(key: CountedKey, name: CounterName, nowMs: number): bigint | undefined {
  const limit: number | bigint | undefined = key[name]
  if (limit === undefined) return undefined
  const dealt = key.lane?.dealt[countName(COUNTERS[name], windowOf(COUNTERS[name], nowMs))]
  return dealt ?? shareOf(BigInt(limit), key)
}

export function leftIn(key: CountedKey, name: CounterName, nowMs: number): bigint | undefined {
  const limit = limitOf(key, name, nowMs)
  return limit === undefined ? undefined : limit - (key.counts[name][windowOf(COUNTERS[name], nowMs)] ?? 0n)
}

export function creditsLeft(key: CountedKey, nowMs: number): Nano {
  let least = key.available
  for (const name of CREDIT_COUNTERS) {
    const left = leftIn(key, name, nowMs)
    if (left !== undefined && left < least) least = left
  }
  return least
}

/** The loss that a key may cause on a UTC day, unless its stage or the key says otherwise: one credit. */
export const DAILY_LOSS: Nano = 10n ** 9n

/** The amount that its requests may have cost the operator beyond their charges, on the UTC day of this moment. */
export function lossOf(key: CountedKey, ms: number): Nano {
  return key.counts.dailyLoss[windowOf(COUNTERS.dailyLoss, ms)] ?? 0n
}

export type LossDeps = { readonly dailyLoss: Nano }

/** A lane has its share, less what others have lost in its place. */
export function lossBoundOf(key: CountedKey, stage: LossDeps, nowMs: number): Nano {
  const others = key.lane?.dealt[countName(COUNTERS.dailyLoss, windowOf(COUNTERS.dailyLoss, nowMs))] ?? 0n
  return shareOf(key.dailyLoss ?? stage.dailyLoss, key) - others
}

/** True if a key that was admitted at this time had reached its bound on loss. */
export function isBeyondLoss(key: CountedKey, nowMs: number, stage: LossDeps): boolean {
  return lossOf(key, nowMs) >= lossBoundOf(key, stage, nowMs)
}
