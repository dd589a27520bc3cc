import type { CounterRefusal } from '../basics/gateway-error.ts'
import type { Key } from '../keys/key.ts'
import type { Nano } from '../money/money.ts'
import type { Demand } from './admission.ts'
import { WINDOWS, type WindowKind } from './windows.ts'

/** A limit of a key that counts within a window of time. The key's item has an attribute for each window. */
export type Counter<Counts = 'requests' | 'credits' | 'loss'> = {
  /**
   * A request counts as one, for good. Credits count as they are held; the unspent part returns to the same window. A loss
   * is what requests may have cost the operator beyond their charges; admission only reads it.
   */
  readonly counts: Counts
  readonly within: WindowKind
  readonly refusal: CounterRefusal
  /** Its name on a key's item, before the window: short, because every request pays for each KB of the item. */
  readonly stored: string
  /** Its name in answers to the holder of the key and to operators. */
  readonly api: string
}

/** Each counter has the name of the setting that is its limit. A key without that setting is unlimited. */
export type CounterName = RequestCounter | CreditCounter | 'dailyLoss'
type RequestCounter = 'dailyLimit'
export type CreditCounter = 'dailyCredits' | 'monthlyCredits'

export const COUNTERS: Readonly<
  Record<RequestCounter, Counter<'requests'>> &
    Record<CreditCounter, Counter<'credits'>> &
    Record<'dailyLoss', Counter<'loss'>>
> = {
  dailyLimit: { counts: 'requests', within: 'day', refusal: 'daily_limit_exceeded', stored: 'n', api: 'daily_limit' },
  dailyCredits: {
    counts: 'credits',
    within: 'day',
    refusal: 'daily_credits_exceeded',
    stored: 'c',
    api: 'daily_credits',
  },
  monthlyCredits: {
    counts: 'credits',
    within: 'month',
    refusal: 'monthly_credits_exceeded',
    stored: 'm',
    api: 'monthly_credits',
  },
  dailyLoss: { counts: 'loss', within: 'day', refusal: 'daily_loss_exceeded', stored: 'l', api: 'daily_loss' },
}

export const COUNTER_NAMES = Object.keys(COUNTERS) as CounterName[]
export const CREDIT_COUNTERS = COUNTER_NAMES.filter(
  (name): name is CreditCounter => COUNTERS[name].counts === 'credits',
)

export type Counts = Record<CounterName, Record<string, bigint>>

export function noCounts(): Counts {
  return Object.fromEntries(COUNTER_NAMES.map((name) => [name, {}])) as Counts
}

export function windowOf({ within }: Counter, ms: number): string {
  return WINDOWS[within].nameAt(ms)
}

/** The seconds until the next window begins. */
export function secondsLeft({ within }: Counter, nowMs: number): number {
  return Math.ceil((WINDOWS[within].nextAtMs(nowMs) - nowMs) / 1000)
}

export function oldestKept({ within }: Counter, nowMs: number): string {
  const { nameAt, keptMs } = WINDOWS[within]
  return nameAt(nowMs - keptMs)
}

export function takenBy({ hold }: Demand, { counts }: Counter): bigint {
  return { requests: 1n, credits: hold, loss: 0n }[counts]
}

export function limitOf(key: Key, name: CounterName): bigint | undefined {
  const limit: number | bigint | undefined = key[name]
  return limit === undefined ? undefined : BigInt(limit)
}

/** The amount that a counter still has; undefined if the key is unlimited. */
export function leftIn(key: Key, name: CounterName, nowMs: number): bigint | undefined {
  const limit = limitOf(key, name)
  return limit === undefined ? undefined : limit - (key.counts[name][windowOf(COUNTERS[name], nowMs)] ?? 0n)
}

/** The most credits that one more request can hold. */
export function creditsLeft(key: Key, nowMs: number): Nano {
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
export function lossOf(key: Key, ms: number): Nano {
  return key.counts.dailyLoss[windowOf(COUNTERS.dailyLoss, ms)] ?? 0n
}

export type LossDeps = {
  /** The loss that a key may cause on a UTC day, if it has no bound of its own. */
  readonly dailyLoss: Nano
}

export function lossBoundOf({ dailyLoss }: Pick<Key, 'dailyLoss'>, stage: LossDeps): Nano {
  return dailyLoss ?? stage.dailyLoss
}

/** True if a key that was admitted at this time had reached its bound on loss. */
export function isBeyondLoss(key: Key, nowMs: number, stage: LossDeps): boolean {
  return lossOf(key, nowMs) >= lossBoundOf(key, stage)
}
