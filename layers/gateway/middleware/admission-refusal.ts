import type { AdmissionRefusal } from '../domain/admission.ts'
import { secondsUntilToken } from '../domain/bucket.ts'
import { DO_NOT_RETRY, GatewayError } from '../domain/gateway-error.ts'
import type { Key } from '../domain/key.ts'
import { limitsOf } from '../domain/limits.ts'
import { formatCredits } from '../domain/money.ts'
import { affordableCap, holdOf, type PricedRequest } from '../domain/priced-request.ts'
import { expiredKey } from './identify.ts'

type Refused = { readonly nowMs: number; readonly priced?: PricedRequest | undefined }

export function admissionRefusal(why: AdmissionRefusal, key: Key, { nowMs, priced }: Refused): GatewayError {
  switch (why) {
    case 'key_expired':
      return expiredKey(key)
    case 'rate_limit_exceeded': {
      const seconds = Math.min(60, Math.max(1, secondsUntilToken(key.rpm, key.bucketFullAtUs, nowMs)))
      return new GatewayError(
        why,
        `This key is limited to ${key.rpm} requests per minute. Try again in ${seconds} s.`,
        {
          headers: { 'Retry-After': String(seconds) },
        },
      )
    }
    case 'concurrency_limit_exceeded':
      return new GatewayError(
        why,
        `This key may have ${key.maxConcurrent} requests under way at once, and has. Try again when one has ended.`,
        { headers: { 'Retry-After': '1' } },
      )
    case 'daily_limit_exceeded': {
      const { resetSeconds } = limitsOf(key, nowMs).daily
      return new GatewayError(
        why,
        `This key is limited to ${key.dailyLimit} requests per day. It can be used again at midnight UTC, in ${resetSeconds} s.`,
        { headers: DO_NOT_RETRY },
      )
    }
    case 'credit_balance_exhausted':
      return new GatewayError(why, outOfCredits(key, priced), { headers: DO_NOT_RETRY })
  }
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
