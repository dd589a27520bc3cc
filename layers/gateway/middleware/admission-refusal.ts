import { secondsUntilToken } from '../domain/bucket.ts'
import { type AdmissionRefusal, GatewayError } from '../domain/gateway-error.ts'
import type { Key } from '../domain/key.ts'
import { limitsOf } from '../domain/limits.ts'
import { formatCredits } from '../domain/money.ts'
import { affordableCap, holdOf, type PricedRequest } from '../domain/priced-request.ts'
import { expiredKey } from './identify.ts'

type Refused = { readonly nowMs: number; readonly priced?: PricedRequest | undefined }

type Words = { readonly message: string; readonly retry?: number }

const WORDS: Readonly<Record<AdmissionRefusal, (key: Key, refused: Refused) => Words>> = {
  invalid_api_key: (key) => ({ message: expiredKey(key).message }),
  rate_limit_exceeded: ({ rpm, bucketFullAtUs }, { nowMs }) => {
    const retry = Math.min(60, Math.max(1, secondsUntilToken(rpm, bucketFullAtUs, nowMs)))
    return { message: `This key is limited to ${rpm} requests per minute. Try again in ${retry} s.`, retry }
  },
  concurrency_limit_exceeded: ({ maxConcurrent }) => ({
    message: `This key may have ${maxConcurrent} requests under way at once, and has. Try again when one has ended.`,
  }),
  daily_limit_exceeded: (key, { nowMs }) => ({
    message: `This key is limited to ${key.dailyLimit} requests per day. It can be used again at midnight UTC, in ${limitsOf(key, nowMs).daily.resetSeconds} s.`,
  }),
  credit_balance_exhausted: (key, { priced }) => ({ message: outOfCredits(key, priced) }),
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
