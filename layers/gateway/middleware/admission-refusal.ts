import { secondsUntilToken } from '../domain/bucket.ts'
import { COUNTER_NAMES, COUNTERS, type CounterName, limitOf, secondsLeft } from '../domain/counters.ts'
import { type AdmissionRefusal, type CounterRefusal, GatewayError } from '../domain/gateway-error.ts'
import type { Key } from '../domain/key.ts'
import { formatCredits } from '../domain/money.ts'
import { affordableCap, holdOf, type PricedRequest } from '../domain/priced-request.ts'
import { expiredKey, suspendedKey } from './identify.ts'

type Refused = { readonly nowMs: number; readonly priced?: PricedRequest | undefined }

type Words = { readonly message: string; readonly retry?: number }

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
  credit_balance_exhausted: (key, { priced }) => ({ message: outOfCredits(key, priced) }),
}

function counterWords(): Record<CounterRefusal, WordsOf> {
  const words = COUNTER_NAMES.map((name) => [
    COUNTERS[name].refusal,
    (key: Key, { nowMs }: Refused) => ({ message: usedUp(key, name, nowMs) }),
  ])
  return Object.fromEntries(words)
}

function usedUp(key: Key, name: CounterName, nowMs: number): string {
  const counter = COUNTERS[name]
  const { counts, within } = counter
  const limit = limitOf(key, name) ?? 0n
  const next = within === 'day' ? 'at midnight UTC' : 'when the next month begins in UTC'
  return `This key is limited to ${counts === 'credits' ? formatCredits(limit) : limit} ${counts} per ${within}. It can be used again ${next}, in ${secondsLeft(counter, nowMs)} s.`
}

export function admissionRefusal(why: AdmissionRefusal, key: Key, refused: Refused): GatewayError {
  const { message, retry } = WORDS[why](key, refused)
  return new GatewayError(why, message, { retry })
}

function outOfCredits(key: Key, priced: PricedRequest | undefined): string {
  const balance = `The balance is ${formatCredits(key.available)} credits`
  if (!priced) return `${balance}.`
  const needed = `this request may cost up to ${formatCredits(holdOf(priced))}`
  if (priced.chat.embedding) return `${balance}, and ${needed}. Add credits, or send fewer or shorter texts.`
  const tokens = affordableCap(priced, key.available)
  return tokens > 0
    ? `${balance}, and ${needed}. It covers max_tokens of at most ${tokens} for this request; lower max_tokens or add credits.`
    : `${balance}, and ${needed}: it covers no output for this request. Add credits, or shorten the prompt.`
}
