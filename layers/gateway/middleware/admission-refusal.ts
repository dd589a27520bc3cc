import type { AdmissionRefusal } from '../domain/admission.ts'
import { secondsUntilToken } from '../domain/bucket.ts'
import { affordableCap, holdOf } from '../domain/chat-work.ts'
import { GatewayError } from '../domain/gateway-error.ts'
import type { Key } from '../domain/key.ts'
import { limitsOf } from '../domain/limits.ts'
import { formatCredits } from '../domain/money.ts'
import type { Passage } from '../flow/passage.ts'

/** Retrying at once cannot help: says so to SDKs that would. */
const DO_NOT_RETRY = { 'x-should-retry': 'false' }

export function admissionRefusal(why: AdmissionRefusal, key: Key, passage: Passage): GatewayError {
  switch (why) {
    case 'rate_limit_exceeded': {
      const seconds = Math.min(60, Math.max(1, secondsUntilToken(key.rpm, key.bucketFullAtUs, passage.nowMs)))
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
      const { resetSeconds } = limitsOf(key, passage.nowMs).daily
      return new GatewayError(
        why,
        `This key is limited to ${key.dailyLimit} requests per day. It can be used again at midnight UTC, in ${resetSeconds} s.`,
        { headers: DO_NOT_RETRY },
      )
    }
    case 'credit_balance_exhausted':
      return new GatewayError(why, outOfCredits(key, passage), { headers: DO_NOT_RETRY })
  }
}

function outOfCredits(key: Key, { work }: Passage): string {
  const balance = `The balance is ${formatCredits(key.available)} credits`
  if (!work) return `${balance}.`
  const { chat } = work
  const tokens = affordableCap(chat, key.available)
  const needed = `this request may cost up to ${formatCredits(holdOf(chat))}`
  return tokens > 0
    ? `${balance}, and ${needed}. It covers max_tokens of at most ${tokens} for this request; lower max_tokens or add credits.`
    : `${balance}, and ${needed}: it covers no output for this request. Add credits, or shorten the prompt.`
}
