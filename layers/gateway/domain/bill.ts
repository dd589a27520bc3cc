import type { ChatWork } from './chat-work.ts'
import { holdOf } from './chat-work.ts'
import type { Nano } from './money.ts'
import { type BilledTokens, costOf } from './price.ts'

export type UsageSource = 'upstream' | 'estimate' | 'none'

export type Bill = {
  readonly tokens: BilledTokens
  readonly source: UsageSource
  /** The upstream reported usage that cannot be true, so it was not used. */
  readonly usageRejected: boolean
  readonly cost: Nano
}

export const NO_BILL: Bill = {
  tokens: { prompt: 0, cached: 0, completion: 0 },
  source: 'none',
  usageRejected: false,
  cost: 0n,
}

/** Usage as an upstream reported it, already reduced to numbers of unknown worth. */
export type ReportedTokens = { readonly prompt: unknown; readonly completion: unknown; readonly cached: unknown }

/** Reported usage, if it can be true: whole, not negative, and within what was held for. */
export function trustedTokens(reported: ReportedTokens, work: ChatWork): BilledTokens | undefined {
  const { prompt, completion } = reported
  const cached = reported.cached ?? 0
  if (!isCount(prompt, work.promptBound)) return undefined
  if (!isCount(completion, work.outputCap * work.request.choices)) return undefined
  if (!isCount(cached, prompt)) return undefined
  return { prompt, completion, cached }
}

export function billFor(work: ChatWork, tokens: BilledTokens, source: UsageSource, usageRejected: boolean): Bill {
  const cost = costOf(work.model.tokenPrice, tokens)
  const hold = holdOf(work)
  return { tokens, source, usageRejected, cost: cost < hold ? cost : hold }
}

function isCount(value: unknown, most: number): value is number {
  return Number.isSafeInteger(value) && (value as number) >= 0 && (value as number) <= most
}
