import { secondsUntilToken } from '../../domain/admission/bucket.ts'
import {
  COUNTER_NAMES,
  COUNTERS,
  type Counter,
  type CounterName,
  leftIn,
  limitOf,
  secondsLeft,
  type WindowKind,
} from '../../domain/admission/counters.ts'
import { type AdmissionRefusal, type CounterRefusal, GatewayError } from '../../domain/basics/gateway-error.ts'
import type { Account } from '../../domain/keys/account.ts'
import type { Key } from '../../domain/keys/key.ts'
import { formatCredits, type Nano } from '../../domain/money/money.ts'
import {
  affordableCap,
  capWithin,
  holdOf,
  lowerCap,
  type PricedRequest,
  tokensOf,
} from '../../domain/money/priced-request.ts'
import { expiredKey, suspendedKey } from '../keys/key-refusals.ts'

type Refused = {
  readonly nowMs: number
  readonly priced?: PricedRequest | undefined
  /** The account of the key, if its balance is too small. */
  readonly shortage?: { readonly account: Account; readonly most: Nano } | undefined
}

type Words = {
  readonly message: string
  readonly retry?: number | 'never'
  /** The start of the next window. SDKs must not wait for it by themselves, so it is no `retry`. */
  readonly windowInSeconds?: number | undefined
}

type WordsOf = (key: Key, refused: Refused) => Words

const WORDS: Readonly<Record<AdmissionRefusal, WordsOf>> = {
  ...counterWords(),
  key_suspended: () => ({ message: suspendedKey().message }),
  invalid_api_key: (key) => ({ message: expiredKey(key).message }),
  rate_limit_exceeded: ({ rpm, bucketFullAtUs }, { nowMs }) => {
    const retry = Math.min(60, Math.max(1, secondsUntilToken(rpm, bucketFullAtUs, nowMs)))
    return { message: `This key is limited to ${rpm} requests per minute. Try again in ${retry} s.`, retry }
  },
  concurrency_limit_exceeded: ({ maxConcurrent }) => ({
    message: `This key may have ${maxConcurrent} requests under way at once, and has. Try again when one has ended.`,
  }),
  credit_balance_exhausted: ({ available }, { priced, shortage }) => {
    if (shortage?.account.hidesBalance) return { message: notTold(priced) }
    const has = shortage
      ? `The balance of the account is ${formatCredits(shortage.most)} credits`
      : `The balance is ${formatCredits(available)} credits`
    return { message: creditsNotCovered(has, shortage?.most ?? available, 'add credits', priced) }
  },
}

function counterWords(): Record<CounterRefusal, WordsOf> {
  const words = COUNTER_NAMES.map((name) => [
    COUNTERS[name].refusal,
    (key: Key, refused: Refused) => COUNTED[COUNTERS[name].counts](key, name, refused),
  ])
  return Object.fromEntries(words)
}

const COUNTED: Readonly<Record<Counter['counts'], (key: Key, name: CounterName, refused: Refused) => Words>> = {
  requests: usedUp,
  credits: tooDear,
  tokens: tooLong,
  loss: (_, name, { nowMs }) => ({
    message: `This key may use no more routes today that cost more than the model's price, and the model has no other at the moment. Use another model, or try again ${nextWindow(name, nowMs)}.`,
    windowInSeconds: secondsLeft(COUNTERS[name], nowMs),
  }),
}

/** Operators can raise a limit at any time, so nobody is told to wait for longer than a day. */
const MOST_WAIT_SECONDS = 24 * 60 * 60

function usedUp(key: Key, name: CounterName, { nowMs }: Refused): Words {
  const { counts, within } = COUNTERS[name]
  return {
    message: `This key is limited to ${limitOf(key, name, nowMs)} ${counts} per ${within}. It can be used again ${nextWindow(name, nowMs)}.`,
    windowInSeconds: secondsLeft(COUNTERS[name], nowMs),
  }
}

/** Waiting does not help a request that is beyond the whole limit. */
function tooDear(key: Key, name: CounterName, { nowMs, priced }: Refused): Words {
  const [limit, left] = [limitOf(key, name, nowMs) ?? 0n, leftIn(key, name, nowMs) ?? 0n]
  const isCoverable =
    !priced || holdOf(priced) <= limit || lowerCap(priced, affordableCap(priced, limit), 1) !== undefined
  const has = `This key is limited to ${formatCredits(limit)} credits per ${COUNTERS[name].within} and has ${formatCredits(left > 0n ? left : 0n)} left`
  const more = isCoverable ? `try again ${nextWindow(name, nowMs)}` : "ask the gateway's operator for a higher limit"
  return {
    message: creditsNotCovered(has, left, more, priced),
    windowInSeconds: isCoverable ? secondsLeft(COUNTERS[name], nowMs) : undefined,
  }
}

/** A minute is waited for by SDKs. */
function tooLong(key: Key, name: CounterName, { nowMs, priced }: Refused): Words {
  const [limit, left] = [limitOf(key, name, nowMs) ?? 0n, leftIn(key, name, nowMs) ?? 0n]
  const rest = left > 0n ? left : 0n
  const has = `This key is limited to ${limit} tokens per ${COUNTERS[name].within} and has ${rest} left`
  if (!priced) return { message: `${has}.`, retry: secondsLeft(COUNTERS[name], nowMs) }
  const isCoverable = tokensOf(priced) <= limit || lowerCap(priced, capWithin(priced, limit), 1) !== undefined
  const needs = `may take up to ${tokensOf(priced)}, of which ${priced.promptBound} are the most that its prompt can have`
  const more = isCoverable ? `try again ${nextWindow(name, nowMs)}` : "ask the gateway's operator for a higher limit"
  return {
    message: notCovered(has, capWithin(priced, isCoverable ? rest : limit), more, priced, needs),
    retry: isCoverable ? secondsLeft(COUNTERS[name], nowMs) : 'never',
  }
}

const NEXT: Readonly<Record<WindowKind, string>> = {
  minute: 'when the next minute begins',
  day: 'at midnight UTC',
  month: 'when the next month begins in UTC',
}

function nextWindow(name: CounterName, nowMs: number): string {
  return `${NEXT[COUNTERS[name].within]}, in ${secondsLeft(COUNTERS[name], nowMs)} s`
}

export function admissionRefusal(
  why: AdmissionRefusal,
  key: Key,
  refused: Refused,
  shortage?: Refused['shortage'],
  topUpUrl?: string,
): GatewayError {
  const { message: reason, retry, windowInSeconds } = WORDS[why](key, { ...refused, shortage })
  const message = topUpUrl && why === 'credit_balance_exhausted' ? `${reason} Top up at ${topUpUrl}.` : reason
  if (windowInSeconds === undefined) return new GatewayError(why, message, { retry })
  const wait = Math.min(windowInSeconds, MOST_WAIT_SECONDS)
  return new GatewayError(why, message, { retry, headers: { 'Retry-After': String(wait) } })
}

/** The same words for every balance, so that they do not tell a hidden one. */
function notTold(priced: PricedRequest | undefined): string {
  const cost = priced ? `, which may cost up to ${formatCredits(holdOf(priced))}` : ''
  const less = priced?.chat.embedding ? 'or send fewer or shorter texts' : 'lower max_tokens or shorten the prompt'
  return `The balance of the account does not cover this request${cost}. Add credits, ${less}.`
}

/** `has` says how many credits there are, `more` how there would be more. */
function creditsNotCovered(has: string, left: Nano, more: string, priced: PricedRequest | undefined): string {
  if (!priced) return `${has}.`
  return notCovered(has, affordableCap(priced, left), more, priced, `may cost up to ${formatCredits(holdOf(priced))}`)
}

function notCovered(has: string, tokens: number, more: string, priced: PricedRequest, needs: string): string {
  const needed = `this request ${needs}`
  const advice = `${more.charAt(0).toUpperCase()}${more.slice(1)}`
  if (priced.chat.embedding) return `${has}, and ${needed}. ${advice}, or send fewer or shorter texts.`
  return tokens > 0
    ? `${has}, and ${needed}. It covers max_tokens of at most ${tokens} for this request; lower max_tokens or ${more}.`
    : `${has}, and ${needed}: it covers no output for this request. ${advice}, or shorten the prompt.`
}
